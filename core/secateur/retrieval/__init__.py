"""Finds the candidates of a query, and explains how they were found."""

"""Evaluation of decisions on judged queries: cases, figures with intervals, comparisons of profiles."""

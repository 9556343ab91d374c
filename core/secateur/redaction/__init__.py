"""Finds credentials in everything that is read, and replaces them with markers: `[redacted: aws-access-key #1]`.

    redactor = Redactor.of(settings.redaction, cache)
    redactor.data(b'key = "AKIA…"')     # the same bytes with the marker in place of the key
    redactor.within(text)               # which markers of this redactor a text holds: rule and line

This is done once for every kind of context: files of a repository are scanned while they are indexed
(`index.facts.extract`), everything else when it is read (`kinds.environment`). The rules of `rules.py` always run; the
maintained scanner of the extra `secrets` runs if it is installed (`scanning.py`). For a finding, only its rule and
its position are stored, never the credential nor a hash of it. Nothing here uses the network.
"""

from secateur.redaction.redactor import (
    NOT_SCANNED,
    Redactor,
    forget_allowed,
    not_scanned,
    outgoing,
    recognise_in_names,
    recognise_in_typed_text,
    redact,
    redact_typed,
    separate_call,
)
from secateur.redaction.scanning import Scanning
from secateur.redaction.spans import CredentialNumbers, CredentialSpan, insert_markers
from secateur.redaction.value_looks import is_distinctive

__all__ = [
    "NOT_SCANNED",
    "CredentialNumbers",
    "CredentialSpan",
    "Redactor",
    "Scanning",
    "forget_allowed",
    "insert_markers",
    "is_distinctive",
    "not_scanned",
    "outgoing",
    "recognise_in_names",
    "recognise_in_typed_text",
    "redact",
    "redact_typed",
    "separate_call",
]

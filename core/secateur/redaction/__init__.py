"""Credentials are found in what is read, and leave as markers: `[redacted: aws-access-key #1]`.

    redactor = Redactor.of(settings.redaction, cache)
    redactor.data(b'key = "AKIA…"')     # the same bytes with the marker in the place of the key
    redactor.within(text)               # which markers of this redactor a text holds: rule and line

Once, for every kind of context: files of a repository are scanned while they are indexed (`index.facts.extract`), all
else where it is read (`kinds.environment`). The rules of `rules.py` always look; the maintained scanner of the extra
`secrets` looks where it is installed (`full_scanner.py`). What is stored of a finding is its rule and its place in a
content, never the credential nor a hash of it. Nothing here uses the network.
"""

from secateur.redaction.redactor import (
    NOT_SCANNED,
    Redactor,
    leave_in_under,
    not_scanned,
    outgoing,
    recognise_in_names,
    recognise_typed,
    redact,
    redact_typed,
)
from secateur.redaction.scanning import Scanning
from secateur.redaction.spans import CredentialNumbers, CredentialSpan, with_markers
from secateur.redaction.value_looks import is_distinctive

__all__ = [
    "NOT_SCANNED",
    "CredentialNumbers",
    "CredentialSpan",
    "Redactor",
    "Scanning",
    "is_distinctive",
    "leave_in_under",
    "not_scanned",
    "outgoing",
    "recognise_in_names",
    "recognise_typed",
    "redact",
    "redact_typed",
    "with_markers",
]

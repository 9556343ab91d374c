"""Units of formats that are read without a grammar."""

from __future__ import annotations

import pytest
from secateur.languages.syntax.fragments import parse_file, split_lines

PROTO = """syntax = "proto3";

// the desk; it opens {
service Desk {
  // opens one
  rpc Open(OpenRequest) returns (Ticket);
  rpc Get(GetRequest)
      returns (Ticket) {
    option (http) = { get: "/x}" };
  }
}

message Ticket {
  message Inner { int32 a = 1; }
  enum State {
    OPEN = 0;
  }
  int64 id = 1;
}
"""

GRAPHQL = '''type Query {
  """one { ticket"""
  ticket(id: ID!): Ticket
  tickets(
    first: Int = 10
  ): [Ticket!]!
}

"A ticket"
type Ticket implements Node
  @key(fields: "id") {
  id: ID!
}
union Any = A | B

query GetTicket($id: ID!) {
  ticket(id: $id) { id }
}
'''

SQL = """-- tickets; all
CREATE TABLE IF NOT EXISTS "public"."ticket" (
  name text DEFAULT 'a;b'
);

CREATE OR REPLACE FUNCTION open_ticket(p_id bigint) RETURNS void AS $$
BEGIN
  UPDATE ticket SET status = 'open';
END;
$$ LANGUAGE plpgsql;
DELIMITER //
CREATE PROCEDURE close_ticket(a int)
BEGIN
  SELECT 1;
END //
DELIMITER ;
CREATE TRIGGER seen BEFORE INSERT ON t FOR EACH ROW
BEGIN
  IF a THEN SET y = CASE WHEN a THEN 1 END; END IF;
  SET x = 1;
END;
INSERT INTO ticket (id) VALUES (1),
  (2);
SELECT a FROM ticket WHERE 1;
"""


@pytest.mark.parametrize(
    ("path", "source", "units"),
    [
        (
            "desk.proto",
            PROTO,
            [
                ("region", "", 1, 1),
                ("class", "Desk", 3, 4),
                ("method", "Desk.Open", 5, 6),
                ("method", "Desk.Get", 7, 11),
                ("class", "Ticket", 13, 13),
                ("class", "Ticket.Inner", 14, 14),
                ("class", "Ticket.State", 15, 17),
                ("class", "Ticket", 18, 19),
            ],
        ),
        (
            "desk.graphql",
            GRAPHQL,
            [
                ("class", "Query", 1, 1),
                ("method", "Query.ticket", 2, 3),
                ("method", "Query.tickets", 4, 7),
                ("class", "Ticket", 9, 13),
                ("class", "Any", 14, 14),
                ("function", "GetTicket", 16, 18),
            ],
        ),
        (
            "desk.sql",
            SQL,
            [
                ("class", "ticket", 1, 4),
                ("function", "open_ticket", 6, 10),
                ("region", "", 11, 11),
                ("function", "close_ticket", 12, 15),
                ("region", "", 16, 16),
                ("function", "seen", 17, 21),
                ("section", "INSERT ticket", 22, 23),
                ("section", "SELECT ticket", 24, 24),
            ],
        ),
    ],
)
def test_units(path: str, source: str, units: list[tuple[str, str, int, int]]) -> None:
    for text in (source, source.replace("\n", "\r\n")):
        fragments = parse_file(path, text.encode()).fragments
        assert [(part.kind.value, part.qualname, part.line_start, part.line_end) for part in fragments] == units


@pytest.mark.parametrize("path", ["a.proto", "a.graphql", "a.sql", "a.yml", "a.toml", "Dockerfile"])
@pytest.mark.parametrize(
    "source",
    [
        "",
        "message A {{{{{\n" * 2_000,
        "}\r\n)\r\n" * 2_000,
        "create table a (; " * 50_000,
        "$a" * 200_000 + "'",
        "/*" * 100_000,
        "- - - - a: |\n" * 5_000,
        "RUN \\\n" * 5_000,
        '"""' * 100_000,
    ],
)
def test_unusual_files_are_read_whole(path: str, source: str) -> None:
    fragments = parse_file(path, source.encode()).fragments
    covered = [row for part in fragments for row in range(part.line_start, part.line_end + 1)]
    assert len(covered) == len(set(covered))
    assert set(covered) >= {row for row, line in enumerate(split_lines(source), 1) if line.strip()}

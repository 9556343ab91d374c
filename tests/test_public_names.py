"""The names other programs may rely on (they stay; more may be offered)."""

import ast
import inspect
import json

import pytest
import secateur
from secateur import errors
from secateur.errors import SecateurError
from secateur.kinds import registry
from secateur.kinds.envelope.sections import SECTIONS
from secateur.settings import Redacting, with_values
from support.cli import secateur as run
from support.distributions import TODO
from support.repos import QUERY, SHOP, write

CONTRACT = {
    "Engine": ("open", "search", "retrieve", "select", "render", "report"),
    "Settings": ("effective_budget",),
    "TrimReport": ("to_dict",),
    "ConversationPruner": ("prune_conversations", "report"),
    "AgenticConversationPruner": ("prune_conversations", "get_cleanup_statistics", "report"),
    "PruneContext": ("handle_overflow", "report"),
    "SourceCode": ("module_name", "source_code", "tokens"),
    "select": (),
    "priority": (),
    "select_greedy": (),
    "count_tokens": (),
    "trim_context_with_budget": (),
    "chunk_diff": (),
    "chunk_repository": (),
}


MOST_NAMES = 114


@pytest.mark.parametrize("name", CONTRACT)
def test_names_of_the_contract_are_there(name):
    thing = getattr(secateur, name)
    assert name in secateur.__all__
    assert thing.__doc__
    assert all(hasattr(thing, attribute) for attribute in CONTRACT[name])


@pytest.mark.parametrize("name", secateur.__all__)
def test_every_exported_name_can_be_imported(name):
    assert getattr(secateur, name) is getattr(secateur, name)
    assert name in dir(secateur)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = secateur.nothing_of_the_kind
    assert not hasattr(secateur, "__path_of_nothing__")


def test_signatures_are_those_of_the_contract():
    assert (
        str(inspect.signature(secateur.priority))
        .replace("'", "")
        .startswith("(relevance: float | None, hotspot: float | None = 0.0, distance: float | None = 1,")
    )
    assert list(inspect.signature(secateur.priority).parameters) == ["relevance", "hotspot", "distance", "weights"]
    defaults = [parameter.default for parameter in inspect.signature(secateur.priority).parameters.values()][1:]
    assert defaults == [0.0, 1, (0.4, 0.3, 0.3)]
    assert list(inspect.signature(secateur.select_greedy).parameters) == ["tokens_in_priority_order", "budget"]
    assert list(inspect.signature(secateur.select).parameters) == ["pool", "settings"]
    assert list(inspect.signature(secateur.count_tokens).parameters)[:2] == ["text", "counter"]


def test_every_error_has_a_code_an_exit_code_and_a_sentence():
    pending, seen = [SecateurError], []
    while pending:
        error = pending.pop()
        pending += error.__subclasses__()
        seen.append(error)
    assert len(seen) >= 8
    for error in seen:
        assert error.__doc__
        assert error.exit_code in (1, 2, 3, 4, 130)
        assert error("message", hint="hint").to_dict() == {
            "code": error.default_code,
            "message": "message",
            "hint": "hint",
        }
        assert error("message", code="OTHER").code == "OTHER"
        assert str(error("message")) == "message"


def test_every_error_is_public():
    ours = [thing for thing in vars(errors).values() if isinstance(thing, type) and issubclass(thing, SecateurError)]
    assert len(ours) == 10
    for error in ours:
        assert getattr(secateur, error.__name__) is error and error.__name__ in str(errors.__doc__)


def test_one_convention_serves_every_kind(tmp_path):
    path = tmp_path / "envelope.json"
    envelope = {section: {} for section in SECTIONS} | {"dependency_digest": {"items": ["x" * 99] * 400}}
    path.write_text(json.dumps(envelope), "utf-8")
    settings = with_values(secateur.Settings(), {"context_budget.tokens": 500})
    outcome = secateur.prune("envelope", settings, path=str(path), model="gpt-4o")
    assert isinstance(outcome.ledger, secateur.Ledger) and outcome.ledger.after <= 500
    assert json.loads(secateur.format_outcome(outcome, "json"))["ledger"] == outcome.ledger.shape().to_dict()
    with pytest.raises(secateur.UsageError, match="has no input paths"):
        secateur.prune("envelope", paths="x")
    with pytest.raises(secateur.UsageError, match="envelope needs path"):
        secateur.prune("envelope")
    with pytest.raises(secateur.UsageError, match="printed as text or json"):
        secateur.format_outcome(outcome, "xml")
    with pytest.raises(secateur.UsageError, match="no kind of context"):
        secateur.prune("poem")


def test_a_search_from_python_is_the_search_of_the_command(tmp_path):
    root = write(tmp_path / "shop", SHOP)
    settings = secateur.Settings(budget=200, redaction=Redacting(scanner="rules"))
    outcome = secateur.prune("search", settings, query=QUERY, path=str(root))
    ran = run("search", QUERY, root, "--budget", 200, "--dropped", "all", "--format", "json")
    ledger = outcome.ledger
    assert {entry.id: entry.shape().to_dict() for entry in ledger.entries} == {
        one["id"]: one for one in ran.json["ledger"]["entries"]
    }
    assert (ledger.before, ledger.after) == (ran.json["ledger"]["before"], ran.json["ledger"]["after"])
    for form in ("text", "json", "markdown"):
        printed = run("search", QUERY, root, "--budget", 200, "--format", form).out
        assert secateur.format_outcome(outcome, form) == printed
    environment, settings = secateur.Environment(form="xml"), secateur.Settings(budget=200)
    for_xml = secateur.prune("search", settings, environment=environment, query=QUERY, path=str(root))
    assert secateur.format_outcome(for_xml, "xml") == run("search", QUERY, root, "--budget", 200, "--format", "xml").out
    before, after = registry.get_kind("search").texts(outcome, 0)
    assert before == after and "refund" in before


def test_a_kind_of_another_distribution_needs_nothing_but_public_names():
    modules = {
        node.module
        for node in ast.walk(ast.parse(TODO))
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "secateur"
    }
    assert modules == {"secateur"}
    assert "import secateur" not in TODO


def test_the_number_of_names_does_not_grow():
    # each is a promise; the packages beside the engine use most of them, and an import contract keeps them to these
    assert len(set(secateur.__all__)) == len(secateur.__all__) <= MOST_NAMES

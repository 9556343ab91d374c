import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.retrieval.query import find_forms, form_notices, read_form_lines, remove_form


@pytest.mark.parametrize(
    ("path", "is_form"),
    [
        (".github/ISSUE_TEMPLATE.md", True),
        (".github/ISSUE_TEMPLATE/bug.yml", True),
        (".gitlab/issue_templates/Bug.md", True),
        ("ISSUE_TEMPLATE.md", True),
        ("docs/issue_template.md", True),
        ("src/issue_template.py", False),
        (".github/workflows/ci.yml", False),
    ],
)
def test_issue_forms_are_told_by_their_path(path: str, is_form: bool):
    assert bool(find_forms([path])) is is_form


def test_a_form_of_fields_says_its_labels_and_its_texts():
    texts = {".github/ISSUE_TEMPLATE/bug.yml": ["body:", "  - label: What happened?", "      Tell us *all* of it."]}
    form = read_form_lines(list(texts), texts.__getitem__)
    asked = "Carts break\n### What happened?\n\nTell us all of it.\nThey do.\n\n_No response_"
    assert remove_form(asked, form) == ("Carts break\n\n\n\nThey do.\n\n", 3)


def test_the_first_line_and_fences_stay():
    assert remove_form("bug report\n```python\nbug report", frozenset({"bug report", "python"})) == (
        "bug report\n```python\n",
        1,
    )


def test_what_was_left_out_is_said():
    assert form_notices(0) == ()
    assert form_notices(2)[0].message.startswith("2 lines of the query are")


@given(st.text(), st.frozensets(st.text(max_size=8), max_size=4))
def test_no_line_is_added_or_changed(text: str, form: frozenset[str]):
    kept, left = remove_form(text, form)
    if form:
        assert all(after in ("", before) for before, after in zip(text.splitlines(), kept.split("\n"), strict=False))
        assert left <= len(text.splitlines())

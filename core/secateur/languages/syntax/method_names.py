"""Names of methods of builtin types that many languages have: the defaults of `NameRules`.

Kept as data so that answers do not vary with the interpreter that runs.
"""

from __future__ import annotations

from secateur.languages.syntax.names import words

BUILTIN_METHODS = words(
    """
add all any append apply as_bytes as_mut as_ref as_str assert_called call capitalize catch charAt chars clear clone
close collect concat contains copy count debug decode delete discard drain emit encode end endsWith endswith entries
equals error every exception exists expect extend extract fetch filter find findIndex first flat flatMap flatten flush
fold forEach format from get getattr group groups has hasNext hasOwnProperty hashCode includes index indexOf info insert
into into_iter isEmpty is_empty is_none is_some isdigit items iter join keys last len length list log lower lstrip map
match max min next ok open partition pop popitem post print push push_back put query raise_for_status read readline
readlines recv reduce remove removeAll render replace reset resolve reverse rfind rsplit rstrip run save search seek
select send set setdefault shift size slice some sort splice split splitlines start startsWith startswith stop stream
strftime strip strptime sub substring sum tell test then title toArray toJSON toLowerCase toString toUpperCase to_owned
to_string translate trim trunc truncate unshift unwrap unwrap_or update upper value values view wait warn warning write
writelines zfill zip
"""
)
"""Methods of builtin types, streams and loggers."""

ELEMENT_METHODS = words(
    """
back elementAt find findFirst findAny first floor ceiling front get getFirst getLast getOrDefault getValue last lower
higher next nextElement orElse orElseGet orElseThrow peek peekFirst peekLast pollFirst pollLast poll pop popFirst
popLast pop_back pop_front previous remove removeFirst removeLast take get_mut get_unchecked first_mut last_mut
front_mut back_mut entry or_insert or_insert_with or_default nth min max min_by max_by min_by_key max_by_key load join
into_inner
"""
)
"""Methods that yield an element of a container."""

SAME_METHODS = words(
    """
iter iter_mut into_iter iterator listIterator stream parallelStream values entrySet descendingIterator descendingMap
subList limit skip filter sorted distinct toList rev chain cloned copied peekable enumerate by_ref drain as_slice
as_mut_slice to_vec clone step_by take_while skip_while windows values_mut into_values as_ref as_mut collect unwrap
expect borrow borrow_mut lock read write
"""
)
"""Methods that yield a container of the same elements."""

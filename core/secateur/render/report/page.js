(function () {
  "use strict";
  var list = document.getElementById("items"), tools = document.getElementById("tools");
  if (!list || !tools) return;
  var items = Array.prototype.slice.call(list.children);
  var find = document.getElementById("find"), sort = document.getElementById("sort");
  var said = document.getElementById("said");
  var boxes = Array.prototype.slice.call(tools.querySelectorAll("input[type=checkbox]"));
  items.forEach(function (item) {
    item.words = item.querySelector("summary").textContent.toLowerCase();
  });

  function number(item, key) {
    return parseFloat(item.getAttribute("data-" + key));
  }

  // In every order, what is equal stays in the order of the list.
  function arrange() {
    var by = sort.value;
    var ordered = items.slice().sort(function (one, other) {
      var first = 0;
      if (by === "name") first = one.getAttribute("data-name") < other.getAttribute("data-name") ? -1 :
        one.getAttribute("data-name") > other.getAttribute("data-name") ? 1 : 0;
      else if (by === "order" || by === "pack") first = number(one, by) - number(other, by);
      else first = number(other, by) - number(one, by);
      return first || number(one, "order") - number(other, "order");
    });
    ordered.forEach(function (item) { list.appendChild(item); });
  }

  function filter() {
    var words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    var states = {}, shown = 0;
    boxes.forEach(function (box) { states[box.value] = box.checked; });
    items.forEach(function (item) {
      var fits = states[item.getAttribute("data-state")] && words.every(function (word) {
        return item.words.indexOf(word) >= 0;
      });
      item.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    said.textContent = shown === items.length ? items.length + " listed" : shown + " of " + items.length + " listed";
  }

  // A segment of the bar leads to its item, which opens.
  function open() {
    var item = /^#i\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (!item) return;
    item.hidden = false;
    item.querySelector("details").open = true;
    item.scrollIntoView({ block: "nearest" });
  }

  sort.addEventListener("change", arrange);
  find.addEventListener("input", filter);
  boxes.forEach(function (box) { box.addEventListener("change", filter); });
  document.getElementById("all").addEventListener("click", function () {
    var shut = items.some(function (item) { return !item.hidden && !item.querySelector("details").open; });
    items.forEach(function (item) { if (!item.hidden) item.querySelector("details").open = shut; });
  });
  window.addEventListener("hashchange", open);
  tools.hidden = false;
  filter();
  open();
})();

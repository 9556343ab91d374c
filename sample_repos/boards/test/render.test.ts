import assert from "node:assert/strict";
import { test } from "node:test";
import { renderBoardPage } from "../src/render/BoardPage.js";
import { escape, h } from "../src/render/jsx.js";
import { boardWithCards } from "../testing/fixtures.js";

test("the page shows columns and cards in order", async () => {
  const { service, boardId, a } = await boardWithCards();
  await service.editCard("ann", boardId, a, { assignee: "ben", due: "2026-03-01" });
  const html = renderBoardPage(await service.getBoard("ann", boardId), "2026-03-10");
  assert.match(html, /^<!doctype html><html lang="en">/);
  assert.match(html, /Todo <small>3<\/small>[^]*>a<\/h3>[^]*>b<\/h3>[^]*Done <small>0<\/small>/);
  assert.match(html, /class="card overdue"/);
  assert.match(html, /class="assignee">ben</);
});

test("text and attributes are escaped", () => {
  assert.equal(escape(`<a href="x">'&`), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  const item = h("li", { title: `"><script>`, hidden: true }, "1 < 2", null, false);
  assert.equal(item.html, `<li title="&quot;&gt;&lt;script&gt;" hidden>1 &lt; 2</li>`);
});

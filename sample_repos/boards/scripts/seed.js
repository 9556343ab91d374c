#!/usr/bin/env node
/**
 * 向正在运行的服务器写入一份演示数据。
 *
 *   node scripts/seed.js [base URL] [token]
 */
const base = process.argv[2] ?? "http://localhost:8080";
const token = process.argv[3] ?? "demo-token";

const DEMO = {
  Backlog: ["Collect feedback", "Draft the launch post", "Price list"],
  Doing: ["Fix the login redirect"],
  Done: ["Choose a name"],
};

async function request(method, path, body) {
  const response = await fetch(new URL(path, base), {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const reply = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${reply.error.code}: ${reply.error.message}`);
  return reply;
}

async function seed() {
  const board = await request("POST", "/boards", { name: "Launch" });
  for (const [name, titles] of Object.entries(DEMO)) {
    const wipLimit = name === "Doing" ? 3 : null;
    const column = await request("POST", `/boards/${board.id}/columns`, { name, wipLimit });
    for (const title of titles) {
      await request("POST", `/boards/${board.id}/columns/${column.id}/cards`, { title });
    }
  }
  return `${base}/boards/${board.id}/page`;
}

seed().then(
  (url) => console.log(`open ${url}`),
  (error) => {
    console.error(String(error.message ?? error));
    process.exitCode = 1;
  },
);

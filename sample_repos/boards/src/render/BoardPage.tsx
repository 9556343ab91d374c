import { cardsInColumn, sortedColumns } from "../model/index.js";
import type { Board, Column } from "../model/index.js";
import { CardView } from "./CardView.js";
import { h } from "./jsx.js";

/** A complete, script-free page: for printing, e-mail and wall displays. */
export function renderBoardPage(board: Board, today?: string): string {
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{board.name}</title>
      </head>
      <body>
        <h1>{board.name}</h1>
        <main class="board" data-version={board.version}>
          {sortedColumns(board).map((column) => (
            <ColumnView board={board} column={column} today={today} />
          ))}
        </main>
      </body>
    </html>
  );
  return `<!doctype html>${page}`;
}

function ColumnView({ board, column, today }: { board: Board; column: Column; today: string | undefined }) {
  const cards = cardsInColumn(board, column.id);
  const count = column.wipLimit === null ? `${cards.length}` : `${cards.length}/${column.wipLimit}`;
  return (
    <section id={column.id}>
      <h2>
        {column.name} <small>{count}</small>
      </h2>
      <ol>
        {cards.map((card) => (
          <CardView card={card} {...(today === undefined ? {} : { today })} />
        ))}
      </ol>
    </section>
  );
}

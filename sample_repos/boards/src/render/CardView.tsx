import type { Card } from "../model/index.js";
import { h } from "./jsx.js";

export interface CardViewProps {
  card: Card;
  today?: string;
}

export function CardView({ card, today }: CardViewProps) {
  const overdue = card.due !== null && today !== undefined && card.due < today;
  return (
    <li class={overdue ? "card overdue" : "card"} id={card.id}>
      <h3 title={card.title}>{card.title}</h3>
      {card.description !== "" && <p>{firstLine(card.description)}</p>}
      {card.due && <time datetime={card.due}>{card.due}</time>}
      {card.assignee && <span class="assignee">{card.assignee}</span>}
      <ul class="labels">
        {card.labels.map((name) => (
          <li>{name}</li>
        ))}
      </ul>
    </li>
  );
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

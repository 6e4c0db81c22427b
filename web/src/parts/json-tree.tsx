/** Any JSON as a tree that opens and closes by mouse and keyboard. What is closed costs nothing. */

import { useState } from "react";

import styles from "./json-tree.module.css";

interface JsonTreeProps {
  value: unknown;
  name?: string;
  /** How many levels are open at first. */
  open?: number;
}

const MOST_ITEMS = 200;

export function JsonTree({ value, name, open = 1 }: JsonTreeProps) {
  if (typeof value !== "object" || value === null) return <Leaf name={name} value={value} />;
  return <Branch name={name} value={value} open={open} />;
}

function Branch({ name, value, open }: { name?: string; value: object; open: number }) {
  const [shown, setShown] = useState(open > 0);
  const list = Array.isArray(value);
  const items = Object.entries(value);
  if (items.length === 0) return <Line name={name} text={list ? "[]" : "{}"} />;
  return (
    <details className={styles.branch} open={shown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary className={styles.summary}>
        {name !== undefined && <span className={styles.name}>{name}: </span>}
        <span className={styles.size}>{list ? `[${items.length}]` : `{${items.length}}`}</span>
      </summary>
      {shown && (
        <div className={styles.items}>
          {items.slice(0, MOST_ITEMS).map(([key, item]) => (
            <JsonTree key={key} name={key} value={item} open={open - 1} />
          ))}
          {items.length > MOST_ITEMS && <div className={styles.size}>… +{items.length - MOST_ITEMS}</div>}
        </div>
      )}
    </details>
  );
}

function Leaf({ name, value }: { name?: string; value: unknown }) {
  const text = typeof value === "string" ? value : String(JSON.stringify(value));
  return <Line name={name} text={text} kind={typeof value} />;
}

function Line({ name, text, kind }: { name?: string; text: string; kind?: string }) {
  return (
    <div className={styles.leaf}>
      {name !== undefined && <span className={styles.name}>{name}: </span>}
      <span className={styles.value} data-kind={kind}>
        {text}
      </span>
    </div>
  );
}

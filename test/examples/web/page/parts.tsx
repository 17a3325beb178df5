import type { RunPart, RunReasoningPart, RunToolPart } from "cursor-cloud-agents/store";
import { memo } from "react";
import { Prose } from "./prose.tsx";
import { subject, verb } from "./words.ts";

/** What a run said and did, in order; tool calls in a row share a list. */
export function Parts({ parts, isLive }: { parts: readonly RunPart[]; isLive: boolean }) {
  const last = parts.at(-1);
  return (
    <div className="parts">
      {toGroups(parts).map((group) => {
        const [first] = group;
        if (first!.type === "tool") return <Tools key={first!.id} tools={group as RunToolPart[]} />;
        if (first!.type === "text") return <Reply key={first!.id} text={first!.text} />;
        return (
          <Thinking key={first!.id} part={first as RunReasoningPart} isGrowing={isLive && first === last} />
        );
      })}
    </div>
  );
}

function toGroups(parts: readonly RunPart[]): RunPart[][] {
  const groups: RunPart[][] = [];
  for (const part of parts) {
    const group = groups.at(-1);
    if (part.type === "tool" && group?.[0]?.type === "tool") group.push(part);
    // A blank line between two tools is no reply.
    else if (part.type === "tool" || part.text.trim() !== "") groups.push([part]);
  }
  return groups;
}

const Reply = memo(function Reply({ text }: { text: string }) {
  return (
    <div className="prose">
      <Prose text={text} />
    </div>
  );
});

const Thinking = memo(function Thinking({ part, isGrowing }: { part: RunReasoningPart; isGrowing: boolean }) {
  const text = part.text.trim();
  return (
    <details className="thinking" open={isGrowing}>
      <summary>
        <span>{isGrowing ? "Thinking" : "Thought"}</span>
        {!isGrowing && <span className="preview">{text.slice(0, 200)}</span>}
        <Chevron />
      </summary>
      <p>{text}</p>
    </details>
  );
});

function Tools({ tools }: { tools: RunToolPart[] }) {
  return (
    <ul className="tools" aria-label="Tool calls">
      {tools.map((tool) => (
        <Tool key={tool.id} tool={tool} />
      ))}
    </ul>
  );
}

const Tool = memo(function Tool({ tool }: { tool: RunToolPart }) {
  const isRunning = tool.status !== "completed";
  const outcome = tool.result as { success?: unknown; error?: unknown } | undefined;
  const hasFailed = outcome?.error !== undefined;
  return (
    <li>
      <details className="tool">
        <summary>
          <Mark state={isRunning ? "running" : hasFailed ? "bad" : "good"} />
          <span>{verb(tool.name, isRunning)}</span>
          <span className="subject">{subject(tool.args)}</span>
          <Chevron />
        </summary>
        <Value label="Arguments" value={tool.args} isLeftOut={tool.truncated?.args} />
        {!isRunning && (
          <Value
            label={hasFailed ? "Error" : "Result"}
            value={hasFailed ? outcome?.error : (outcome?.success ?? outcome)}
            isLeftOut={tool.truncated?.result}
          />
        )}
      </details>
    </li>
  );
});

function Value({ label, value, isLeftOut }: { label: string; value: unknown; isLeftOut: true | undefined }) {
  if (value === undefined && !isLeftOut) return null;
  return (
    <>
      <p className="label">{label}</p>
      <pre className="code">{isLeftOut ? "Too large to be shown." : toLines(value)}</pre>
    </>
  );
}

/** Fields on lines of their own, and texts as they are: line ends in a command's output stay line ends. */
function toLines(value: unknown): string {
  const toText = (field: unknown) => (typeof field === "string" ? field : JSON.stringify(field, null, 2));
  if (typeof value !== "object" || value === null || Array.isArray(value)) return toText(value);
  return Object.entries(value)
    .map(([name, field]) => {
      const text = toText(field).trimEnd();
      return `${name}:${text.includes("\n") ? "\n" : " "}${text}`;
    })
    .join("\n");
}

const marks = {
  running: { label: "Running:", path: "M8 1.75a6.25 6.25 0 1 0 6.25 6.25" },
  good: { label: "Done:", path: "M3 8.5 6.5 12 13 4.5" },
  bad: { label: "Failed:", path: "M4 4l8 8M12 4l-8 8" },
};

function Mark({ state }: { state: keyof typeof marks }) {
  return (
    <>
      <svg className={`mark ${state}`} viewBox="0 0 16 16" aria-hidden="true">
        <path
          d={marks[state].path}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.75"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      <span className="visually-hidden">{marks[state].label}</span>
    </>
  );
}

const Chevron = () => <span className="chevron" aria-hidden="true" />;

import type { Artifact } from "cursor-cloud-agents";
import { useEffect, useState } from "react";
import { artifactUrl, listArtifacts } from "./api.ts";
import { size } from "./words.ts";

/** The files that an agent left; asked for anew when a run has ended, since that is when they are uploaded. */
export function ArtifactList({ agentId, endedRunId }: { agentId: string; endedRunId: string | undefined }) {
  const [artifacts, setArtifacts] = useState<Artifact[]>([]);
  const [refusal, setRefusal] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another run may have left more
  useEffect(() => {
    let isCurrent = true;
    listArtifacts(agentId).then(
      ({ items }) => isCurrent && setArtifacts(items),
      (error: Error) => isCurrent && setRefusal(error.message),
    );
    return () => {
      isCurrent = false;
    };
  }, [agentId, endedRunId]);

  if (artifacts.length === 0 && refusal === undefined) return null;
  return (
    <section className="section" aria-labelledby="files">
      <h2 id="files">Files</h2>
      {refusal !== undefined && (
        <p className="refusal" role="alert">
          {refusal}
        </p>
      )}
      <ul className="list">
        {artifacts.map(({ path, sizeBytes }) => {
          const name = path.replace(/^artifacts\//, "");
          return (
            <li key={path}>
              <a href={artifactUrl(agentId, path)} download={name.split("/").at(-1)}>
                {name}
              </a>
              <small>{sizeBytes === undefined ? "" : size(sizeBytes)}</small>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

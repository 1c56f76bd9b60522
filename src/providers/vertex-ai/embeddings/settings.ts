/** The division of embedding requests into calls: `embeddings:` of an entry. */
export interface EmbeddingSettings {
  /** Undefined: the model's own limit. */
  readonly instancesPerCall: number | undefined;
  readonly parallelCalls: number;
}

export const MAX_INSTANCES = 250;
const PARALLEL_CALLS = 8;

/** The form in the settings file. */
interface Given {
  readonly instances_per_call?: number;
  readonly parallel_calls?: number;
}

export function readEmbeddingSettings({ instances_per_call, parallel_calls }: Given = {}): EmbeddingSettings {
  return { instancesPerCall: instances_per_call, parallelCalls: parallel_calls ?? PARALLEL_CALLS };
}

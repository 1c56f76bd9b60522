import { signal } from '@preact/signals';
import { refusalOf, stream, type ApiRefusal } from '../../api/client.ts';
import { asRefusal } from '../../api/load.ts';
import { readEvents } from '../../api/sse.ts';

/** What came of one case with one version. */
export interface CaseOutcome {
  readonly case: number;
  readonly version: number;
  readonly ok: boolean | null;
  readonly status?: number;
  readonly ms?: number;
  readonly text?: string;
  readonly problem?: string;
  readonly tokens?: { readonly input?: number; readonly output?: number };
  readonly request_id?: string;
}

export interface PromptCase {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** JSON. */
  readonly schema: string;
}

/** Cases with two versions, their outcomes as they come. */
export function createCaseRun() {
  const outcomes = signal<readonly CaseOutcome[]>([]);
  const busy = signal(false);
  const error = signal<ApiRefusal | undefined>(undefined);
  let running: AbortController | undefined;
  const run = async (id: string, body: object, own: AbortController): Promise<void> => {
    const response = await stream(`/prompts/${encodeURIComponent(id)}:run`, { body, signal: own.signal });
    if (!response.ok || !response.body) throw refusalOf(await response.json().catch(() => undefined), response.status);
    for await (const { event, data } of readEvents(response.body))
      if (event === 'case') outcomes.value = [...outcomes.value, JSON.parse(data) as CaseOutcome];
  };
  return {
    outcomes,
    busy,
    error,
    start(id: string, body: object): void {
      running?.abort();
      const own = (running = new AbortController());
      outcomes.value = [];
      error.value = undefined;
      busy.value = true;
      run(id, body, own)
        .catch((reason: unknown) => !own.signal.aborted && (error.value = asRefusal(reason)))
        .finally(() => {
          if (running === own) busy.value = false;
        });
    },
    /** Ends the calls of the upstreams, too. */
    stop(): void {
      running?.abort();
      busy.value = false;
    },
  };
}

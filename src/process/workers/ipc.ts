import type { LabelUse } from '../../catalog/worker-labels.ts';
import type { Clock } from '../../plugin/index.ts';
import type { Diagnostic } from '../../settings/problems/diagnostic.ts';
import type { ReadPlaces } from '../../settings/source/files.ts';
import type { FamilySnapshot } from '../../record/metrics/aggregate.ts';
import type { RecordQuery } from '../../record/store.ts';
import type { DrainTimes } from '../drain.ts';
import type { DrainStep } from '../drain-steps.ts';
import type { AskedQuestion } from '../../dry-run/explain/read-question.ts';
import type { ExplainOutcome } from '../../dry-run/explain/explain-source.ts';
import type { Address } from '../../compose/listener/listeners.ts';

/** What a worker needs for the settings the primary has. */
export interface SentSettings {
  readonly configs: string;
  readonly files: ReadPlaces;
}

/** Why a worker does not serve. */
export type StartFailure =
  | { readonly kind: 'settings'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'listen'; readonly message: string; readonly unknownHost: string | undefined }
  | { readonly kind: 'traces' | 'other'; readonly message: string };

/** All the primary may ask of a worker, and what the answer is. */
export interface WorkerQuestions {
  /** `port`: where the workers before it listen; undefined for the first, which takes what the settings say. */
  readonly start: {
    readonly asked: SentSettings & { readonly port: number | undefined };
    readonly answer: { readonly address: Address } | { readonly failure: StartFailure };
  };
  readonly reload: {
    readonly asked: SentSettings;
    readonly answer: { readonly hash: string; readonly refused: readonly Diagnostic[] | undefined };
  };
  /** The latest request with this id; undefined: it had none. */
  readonly record: { readonly asked: { readonly id: string }; readonly answer: object | undefined };
  readonly records: { readonly asked: RecordQuery; readonly answer: readonly object[] };
  readonly explain: { readonly asked: AskedQuestion; readonly answer: ExplainOutcome };
  /** Whether a request of this worker can be explained. */
  readonly keeps: { readonly asked: { readonly id: string }; readonly answer: boolean };
  /** A request of this worker; undefined: it keeps none under this id. */
  readonly explained: { readonly asked: { readonly id: string }; readonly answer: ExplainOutcome | undefined };
  /** Whether its event loop runs: the answer says nothing but that. */
  readonly alive: { readonly asked: undefined; readonly answer: undefined };
  readonly targets: { readonly asked: undefined; readonly answer: readonly string[] };
  /** The model names that are labels of metrics from now on, in all workers. */
  readonly labels: { readonly asked: readonly string[]; readonly answer: undefined };
  /** All of them are told before the answer comes, in a message of their own: what is told later is never older. */
  readonly metrics: { readonly asked: undefined; readonly answer: undefined };
  /** Answered when the last reply has ended; `cut`: how many had to be. */
  readonly drain: { readonly asked: DrainTimes; readonly answer: { readonly cut: number } };
  /** The end of the delay of a drain; answered at once. */
  readonly drainStep: { readonly asked: DrainStep; readonly answer: undefined };
}
export type WorkerQuestion = keyof WorkerQuestions;

interface Asking<Q extends WorkerQuestion> {
  readonly type: 'ask';
  readonly id: number;
  readonly question: Q;
  readonly asked: WorkerQuestions[Q]['asked'];
}

export type ToWorker = { [Q in WorkerQuestion]: Asking<Q> }[WorkerQuestion];

export type ToPrimary =
  | { readonly type: 'answer'; readonly id: number; readonly answer: WorkerQuestions[WorkerQuestion]['answer'] }
  | { readonly type: 'failed'; readonly id: number; readonly message: string }
  /** Unasked: a model name that could become a label, or is one and is used. */
  | { readonly type: 'label'; readonly use: LabelUse }
  /** Unasked: it takes no more connections and ends, by an error that nothing has handled. */
  | { readonly type: 'ending' }
  /** Unasked, about once a second, what must not be lost with a worker that dies without a word. */
  | {
      readonly type: 'metrics';
      readonly which: 'all' | 'cumulative';
      readonly families: readonly FamilySnapshot[];
      readonly load: Load;
    }
  /** Unasked, whenever it has changed, a few times a second. */
  | { readonly type: 'load'; readonly load: Load };

/** What is cut when a worker is killed. */
export interface Load {
  /** Requests whose reply has not ended. */
  readonly requests: number;
  /** Connections of clients, idle ones among them. */
  readonly connections: number;
}

/** No answer: it did not come in time, or the process is gone. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

interface Waiting {
  resolve(answer: WorkerQuestions[WorkerQuestion]['answer']): void;
  reject(error: Error): void;
}

/** The primary's side of the channel to one worker: every question is answered, refused or given up in bounded time. */
export class Channel {
  readonly #send: (message: ToWorker) => void;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #gone = false;

  /** @param send may throw: a channel that is closed is a worker that is gone */
  constructor(send: (message: ToWorker) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  ask<Q extends WorkerQuestion>(
    question: Q,
    asked: WorkerQuestions[Q]['asked'],
    limitMs: number,
  ): Promise<WorkerQuestions[Q]['answer']> {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(new NoAnswer(`the worker is gone: no answer to "${question}"`));
      const id = (this.#last += 1);
      const settle = (): void => {
        this.#waiting.delete(id);
        giveUp();
      };
      const giveUp = this.#clock.after(limitMs, () => {
        this.#waiting.delete(id);
        reject(new NoAnswer(`no answer to "${question}" within ${limitMs} ms`));
      });
      this.#waiting.set(id, {
        resolve: (answer) => (settle(), resolve(answer)),
        reject: (error) => (settle(), reject(error)),
      });
      try {
        this.#send({ type: 'ask', id, question, asked } as ToWorker);
      } catch {
        this.#waiting.get(id)?.reject(new NoAnswer(`the worker cannot be asked "${question}"`));
      }
    });
  }

  /** An answer that nobody waits for any more is dropped. */
  heard(message: Extract<ToPrimary, { readonly id: number }>): void {
    const waiting = this.#waiting.get(message.id);
    if (message.type === 'answer') waiting?.resolve(message.answer);
    else waiting?.reject(new Error(message.message));
  }

  /** The process has ended: nothing will be answered any more. */
  end(): void {
    this.#gone = true;
    for (const { reject } of this.#waiting.values()) reject(new NoAnswer('the worker has ended'));
  }
}

export type WorkerAnswers = {
  readonly [Q in WorkerQuestion]: (asked: WorkerQuestions[Q]['asked']) => Promise<WorkerQuestions[Q]['answer']>;
};

/** The worker's side: one answer to every question, in whatever order they are ready. */
export async function answer(
  message: ToWorker,
  answers: WorkerAnswers,
  send: (message: ToPrimary) => void,
): Promise<void> {
  const { id, question, asked } = message;
  try {
    // The pair is one of the union's; TypeScript does not follow it through the look-up.
    const act = answers[question] as (asked: unknown) => Promise<WorkerQuestions[WorkerQuestion]['answer']>;
    send({ type: 'answer', id, answer: await act(asked) });
  } catch (error) {
    send({ type: 'failed', id, message: error instanceof Error ? error.message : String(error) });
  }
}

import type { ExplainOutcome, QuestionBody } from '../../core/process/explain-port.ts';
import type { HeaderHint } from '../../core/http/gateway/request-path.ts';
import type { LabelUse } from '../../core/catalog/model-labels.ts';
import type { Alert } from '../../core/ports/alert.ts';
import type { Clock } from '../../plugin/index.ts';
import type { KeptNames, KeptResponse, NewResponse } from '../../core/kernel/index.ts';
import type { Diagnostic } from '../../core/settings/source/diagnostic.ts';
import type { ReadPlaces } from '../../core/settings/source/files.ts';
import type { FamilySnapshot } from '../../core/record/metrics/aggregate.ts';
import type { RecordPage, RecordQuery } from '../../core/record/record-query.ts';
import type { Counters } from '../../core/ports/counters.ts';
import type { StoredChanges } from '../../core/settings/source/stored-objects.ts';
import type { Entities } from '../../core/ports/entities.ts';
import type { StateFailureCode } from '../../core/ports/failures.ts';
import type { Ledger } from '../../core/ports/ledger.ts';
import type { DrainTimes, DrainStep, Load } from '../../core/process/drain.ts';
import type { Address } from '../../core/http/listener/listeners.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

/** The files from which a worker reads the primary's settings. */
export interface SentSettings {
  readonly configs: string;
  readonly files: ReadPlaces;
}

/** The reason why a worker did not start. */
export type StartFailure =
  | { readonly kind: 'settings'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'listen'; readonly message: string; readonly unknownHost: string | undefined }
  | { readonly kind: 'start' | 'other'; readonly message: string };

/** The questions of the primary to a worker, with their arguments and answers. */
export interface WorkerQuestions {
  /** `port`: the port of the earlier workers; undefined for the first, which uses the settings. */
  readonly start: {
    readonly args: SentSettings & { readonly port: number | undefined };
    readonly answer: { readonly address: Address } | { readonly failure: StartFailure };
  };
  readonly reload: {
    readonly args: SentSettings;
    readonly answer: { readonly hash: string; readonly refused: readonly Diagnostic[] | undefined };
  };
  /** The latest request with this id; undefined: the worker had none. */
  readonly record: { readonly args: { readonly id: string }; readonly answer: object | undefined };
  readonly records: { readonly args: RecordQuery; readonly answer: RecordPage };
  readonly explain: { readonly args: QuestionBody; readonly answer: ExplainOutcome };
  /** Whether this worker can explain the request. */
  readonly keeps: { readonly args: { readonly id: string }; readonly answer: boolean };
  /** Explains a request of this worker; undefined: it keeps none under this id. */
  readonly explained: { readonly args: { readonly id: string }; readonly answer: ExplainOutcome | undefined };
  /** A ping: any answer shows that the event loop runs. */
  readonly alive: { readonly args: undefined; readonly answer: undefined };
  readonly targets: { readonly args: undefined; readonly answer: readonly string[] };
  /** The model names that are metric labels from now on, in all workers. */
  readonly labels: { readonly args: readonly string[]; readonly answer: undefined };
  /** The number of workers that serve now: each has an equal part of the limits of rates. */
  readonly share: { readonly args: number; readonly answer: undefined };
  /** The metrics themselves arrive in a separate message before the answer, so that later messages are never older. */
  readonly metrics: { readonly args: undefined; readonly answer: undefined };
  /** Answered when the last reply has ended. `cut`: the number of replies that had to be cut. */
  readonly drain: { readonly args: DrainTimes; readonly answer: { readonly cut: number } };
  /** A step at the end of a drain's delay; answered at once. */
  readonly drainStep: { readonly args: DrainStep; readonly answer: undefined };
}
export type WorkerQuestion = keyof WorkerQuestions;

interface Asking<Q extends WorkerQuestion> {
  readonly type: 'ask';
  readonly id: number;
  readonly question: Q;
  readonly args: WorkerQuestions[Q]['args'];
}

/** The questions of a worker about the responses that the primary keeps. */
export type ResponseQuestion = { readonly owner: string } & (
  | { readonly act: 'find' | 'remove'; readonly id: string }
  | { readonly act: 'findItems'; readonly ids: readonly string[] }
  | { readonly act: 'measure'; readonly names: KeptNames }
  | { readonly act: 'keep'; readonly kept: NewResponse }
);
export type ResponseAnswer = KeptResponse | undefined | ReadonlyMap<string, string> | number | boolean | void;

/** The calls of the state store that a worker may make. */
export type SharedCalls = Pick<Counters, 'take' | 'report' | 'giveBack' | 'read' | 'notify'> &
  Pick<Ledger, 'append'> &
  Pick<Entities, 'seen'>;
export type SharedCall = keyof SharedCalls;

/** One of them, and what it returned or why it failed. */
export interface StateQuestion {
  readonly call: SharedCall;
  readonly args: readonly unknown[];
}
export type StateAnswer =
  | { readonly value: unknown; readonly failed?: undefined }
  | { readonly failed: { readonly code: StateFailureCode | undefined; readonly message: string } };

export type Ask = { [Q in WorkerQuestion]: Asking<Q> }[WorkerQuestion];

export type ToWorker =
  | Ask
  | { readonly type: 'state'; readonly id: number; readonly answer: StateAnswer }
  /** Changes of the objects of the state store. @see ObjectReplica */
  | { readonly type: 'stored'; readonly changes: StoredChanges }
  | { readonly type: 'responses'; readonly id: number; readonly answer: ResponseAnswer; readonly failed?: undefined }
  | {
      readonly type: 'responses';
      readonly id: number;
      readonly failed: string;
      /** The reason is a limit, so the client may try again soon. */
      readonly busy?: boolean;
      readonly answer?: undefined;
    };

export type ToPrimary =
  | { readonly type: 'answer'; readonly id: number; readonly answer: WorkerQuestions[WorkerQuestion]['answer'] }
  | { readonly type: 'failed'; readonly id: number; readonly message: string }
  /** Answered with a message of the same type and id. */
  | { readonly type: 'responses'; readonly id: number; readonly question: ResponseQuestion }
  /** Answered with a message of the same type and id. */
  | { readonly type: 'state'; readonly id: number; readonly question: StateQuestion }
  /** Unsolicited: a model name that could become a label, or the use of one that is. */
  | { readonly type: 'label'; readonly use: LabelUse }
  /** Unsolicited: the primary raises it if no process has. */
  | { readonly type: 'alert'; readonly alert: Alert }
  /** Unsolicited: the primary logs the first one. */
  | { readonly type: 'hint'; readonly hint: HeaderHint }
  /** Unsolicited: the worker accepts no more connections and ends because of an unhandled error. */
  | { readonly type: 'ending' }
  /** Unsolicited, about once a second: values that must not be lost if the worker dies suddenly. */
  | {
      readonly type: 'metrics';
      readonly which: 'all' | 'cumulative';
      readonly families: readonly FamilySnapshot[];
      readonly load: Load;
    }
  /** Unsolicited, when it has changed, a few times a second. */
  | { readonly type: 'load'; readonly load: Load };

/** Thrown if an answer did not come in time or the process is gone. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

interface Waiting {
  resolve(answer: WorkerQuestions[WorkerQuestion]['answer']): void;
  reject(error: Error): void;
}

/** The primary's side of the channel to one worker. Every question is answered, fails or times out. */
export class Channel {
  readonly #send: (message: Ask) => void;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #gone = false;

  /** @param send may throw: the worker of a closed channel is gone */
  constructor(send: (message: Ask) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  ask<Q extends WorkerQuestion>(
    question: Q,
    args: WorkerQuestions[Q]['args'],
    limitMs: number,
  ): Promise<WorkerQuestions[Q]['answer']> {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(new NoAnswer(`the worker has exited: no answer to "${question}"`));
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
        this.#send({ type: 'ask', id, question, args } as Ask);
      } catch {
        this.#waiting.get(id)?.reject(new NoAnswer(`the question "${question}" cannot be sent to the worker`));
      }
    });
  }

  /** Settles the question of an answer. An answer after the time limit is dropped. */
  receive(message: Extract<ToPrimary, { readonly type: 'answer' | 'failed' }>): void {
    const waiting = this.#waiting.get(message.id);
    if (message.type === 'answer') waiting?.resolve(message.answer);
    else waiting?.reject(new Error(message.message));
  }

  /** Fails all pending and later questions: the process has exited. */
  end(): void {
    this.#gone = true;
    for (const { reject } of this.#waiting.values()) reject(new NoAnswer('the worker has ended'));
  }
}

export type WorkerAnswers = {
  readonly [Q in WorkerQuestion]: (args: WorkerQuestions[Q]['args']) => Promise<WorkerQuestions[Q]['answer']>;
};

/** The worker's side: one answer per question, sent as soon as it is ready. */
export async function answer(message: Ask, answers: WorkerAnswers, send: (message: ToPrimary) => void): Promise<void> {
  const { id, question, args } = message;
  try {
    // Question and arguments are a pair of the union; TypeScript does not keep that through the lookup.
    const act = answers[question] as (args: unknown) => Promise<WorkerQuestions[WorkerQuestion]['answer']>;
    send({ type: 'answer', id, answer: await act(args) });
  } catch (error) {
    send({ type: 'failed', id, message: messageOf(error) });
  }
}

import type { ExplainOutcome, QuestionBody } from '../../core/process/explain-port.ts';
import type { HeaderHint } from '../../core/http/gateway/request-path.ts';
import type { LabelUse } from '../../core/catalog/model-labels.ts';
import type { Alert } from '../../core/ports/alert.ts';
import type { ResponseStore } from '../../core/memory/ports.ts';
import type { Clock } from '../../plugin/index.ts';
import type { Diagnostic } from '../../core/settings/source/diagnostic.ts';
import type { ReadPlaces } from '../../core/settings/source/files.ts';
import type { FamilySnapshot } from '../../core/record/metrics/aggregate.ts';
import type { RecordPage, RecordQuery } from '../../core/record/record-query.ts';
import type { Claims } from '../../core/ports/claims.ts';
import type { Counters } from '../../core/ports/counters.ts';
import type { StoredChanges } from '../../core/settings/source/stored-objects.ts';
import type { Entities } from '../../core/ports/entities.ts';
import type { StateFailureCode } from '../../core/ports/failures.ts';
import type { Ledger } from '../../core/ports/ledger.ts';
import type { DrainTimes, DrainStep, Load } from '../../core/process/drain.ts';
import type { Address } from '../../core/http/listener/listeners.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { OpenQuestions } from './open-questions.ts';

/** The files from which a worker reads the primary's settings. */
export interface SentSettings {
  readonly configs: string;
  readonly files: ReadPlaces;
}

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
  readonly keeps: { readonly args: { readonly id: string }; readonly answer: boolean };
  /** Explains a request of this worker; undefined: it keeps none under this id. */
  readonly explained: { readonly args: { readonly id: string }; readonly answer: ExplainOutcome | undefined };
  readonly part: { readonly args: { readonly topic: string; readonly question: unknown }; readonly answer: unknown };
  /** A ping: any answer shows that the event loop runs. */
  readonly alive: { readonly args: undefined; readonly answer: void };
  readonly targets: { readonly args: undefined; readonly answer: readonly string[] };
  /** The model names that are metric labels from now on, in all workers. */
  readonly labels: { readonly args: readonly string[]; readonly answer: void };
  /** The number of processes that serve now, of all gateways on the store: each has an equal part of the limits of rates. */
  readonly share: { readonly args: number; readonly answer: void };
  /** The metrics themselves arrive in a separate message before the answer, so that later messages are never older. */
  readonly metrics: { readonly args: undefined; readonly answer: void };
  /** Answered when the last reply has ended. `cut`: the number of replies that had to be cut. */
  readonly drain: { readonly args: DrainTimes; readonly answer: { readonly cut: number } };
  /** A step at the end of a drain's delay; answered at once. */
  readonly drainStep: { readonly args: DrainStep; readonly answer: void };
}
export type WorkerQuestion = keyof WorkerQuestions;

interface AskMessage<Q extends WorkerQuestion> {
  readonly type: 'ask';
  readonly id: number;
  readonly question: Q;
  readonly args: WorkerQuestions[Q]['args'];
}

/** The questions of a worker about the responses that the primary keeps. */
export type ResponseCalls = Pick<ResponseStore, 'measure' | 'find' | 'findItems' | 'keep' | 'remove'>;
export type ResponseCall = keyof ResponseCalls;
type AskedResponse<Call extends ResponseCall> = { readonly call: Call; readonly args: Parameters<ResponseCalls[Call]> };
export type ResponseQuestion = { [Call in ResponseCall]: AskedResponse<Call> }[ResponseCall];
export type ResponseAnswer = Awaited<ReturnType<ResponseCalls[ResponseCall]>>;

/** The calls of the state store that a worker may make: a process that serves requests does not write settings. */
export interface SharedPorts {
  readonly counters: Pick<Counters, 'take' | 'report' | 'giveBack' | 'read' | 'notify'>;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly entities: Pick<Entities, 'seen'>;
  readonly claims: Claims;
}

export interface StateQuestion {
  readonly port: keyof SharedPorts;
  readonly call: string;
  readonly args: readonly unknown[];
}
export type StateAnswer =
  | { readonly value: unknown; readonly failed?: undefined }
  | { readonly failed: { readonly code: StateFailureCode | undefined; readonly message: string } };

export type Ask = { [Q in WorkerQuestion]: AskMessage<Q> }[WorkerQuestion];

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
  | { readonly type: 'answer'; readonly id: number; readonly answer: AnyAnswer }
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
  /** Unsolicited: for the same part of the primary. */
  | { readonly type: 'told'; readonly topic: string; readonly message: unknown }
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

type AnyAnswer = WorkerQuestions[WorkerQuestion]['answer'];

/** The primary's side of the channel to one worker. */
export class Channel {
  readonly #send: (message: Ask) => void;
  readonly #questions: OpenQuestions<AnyAnswer>;

  /** @param send may throw: the worker of a closed channel is gone */
  constructor(send: (message: Ask) => void, clock: Clock) {
    this.#send = send;
    this.#questions = new OpenQuestions(clock);
  }

  ask<Q extends WorkerQuestion>(
    question: Q,
    args: WorkerQuestions[Q]['args'],
    limitMs: number,
  ): Promise<WorkerQuestions[Q]['answer']> {
    return this.#questions.ask(question, limitMs, (id) => this.#send({ type: 'ask', id, question, args } as Ask));
  }

  receive(message: Extract<ToPrimary, { readonly type: 'answer' | 'failed' }>): void {
    this.#questions.settle(message.id, message.type === 'answer' ? message : { error: new Error(message.message) });
  }

  end(): void {
    this.#questions.end();
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
    const act = answers[question] as (args: unknown) => Promise<AnyAnswer>;
    send({ type: 'answer', id, answer: await act(args) });
  } catch (error) {
    send({ type: 'failed', id, message: messageOf(error) });
  }
}

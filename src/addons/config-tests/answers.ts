import type { TestAnswer, TestReplay } from '../../../schemas/types.generated.ts';
import type { RecordedReply, Recordings } from '../../core/process/recordings-port.ts';
import type { OutboundRequest } from '../../core/upstream/types.ts';

/** The answer to one call: of the case, or of a capture. */
export interface CaseAnswer extends TestAnswer {
  readonly recorded?: RecordedReply;
}

export interface Answers {
  /** Undefined: the call has none. @param index of the call */
  of(call: Pick<OutboundRequest, 'method' | 'path' | 'body'>, index: number): CaseAnswer | undefined;
  /** Why the call has no answer; undefined: the number of answers says it. */
  missing(index: number): string | undefined;
  /** Undefined: any number of calls may come. */
  readonly count: number | undefined;
}

export type ReadReplay = (upstream: TestReplay) => Recordings;

export const isReplay = (upstream: readonly TestAnswer[] | TestReplay): upstream is TestReplay => 'replay' in upstream;

/** The answers that a file of tests lists. Undefined: it names a capture. */
export const listedAnswers = (upstream: TestAnswer[] | TestReplay | undefined): readonly TestAnswer[] | undefined =>
  upstream === undefined ? [] : isReplay(upstream) ? undefined : upstream;

export const answersOf = (upstream: TestAnswer[] | TestReplay = [], readReplay: ReadReplay): Answers =>
  isReplay(upstream)
    ? new ReplayedAnswers(upstream.replay, readReplay(upstream))
    : { of: (_, index) => upstream[index], missing: () => undefined, count: upstream.length };

class ReplayedAnswers implements Answers {
  readonly count = undefined;
  readonly #file: string;
  readonly #recordings: Recordings;
  readonly #misses = new Map<number, string>();

  constructor(file: string, recordings: Recordings) {
    this.#file = file;
    this.#recordings = recordings;
  }

  of({ method, path, body }: Pick<OutboundRequest, 'method' | 'path' | 'body'>, index: number): CaseAnswer | undefined {
    const found = this.#recordings.find({ method, path, body: body?.toString() ?? '' });
    if ('reply' in found) return { recorded: found.reply };
    if ('failed' in found)
      return found.failed === Infinity ? { fault: 'hang' } : { fault: 'reset', delay: found.failed };
    this.#misses.set(index, `${this.#file}: ${found.miss}`);
    return undefined;
  }

  missing(index: number): string | undefined {
    return this.#misses.get(index);
  }
}

import type { OnLeave, PlayedReply, TestQuestion } from '../../../core/process/console-port.ts';
import type { AskParts } from '../../../core/process/ask-parts.ts';
import { uuidv7 } from '../../../core/kernel/ids.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { LongAnswers, Piece } from './long-answers.ts';

const MAX_TESTS = 5;
const MINUTE_MS = 60_000;

type Opened = NonNullable<ReturnType<LongAnswers['open']>>;

/** Work that a process that serves does, and whose answer goes to a browser piece by piece. */
export class ConsoleWork {
  readonly #answers: LongAnswers;
  readonly #clock: Clock;
  #tests: readonly number[] = [];

  constructor(answers: LongAnswers, clock: Clock) {
    this.#answers = answers;
    this.#clock = clock;
  }

  /** Undefined: there were too many within a minute. */
  test(ask: AskParts, question: Omit<TestQuestion, 'id'>, onLeave: OnLeave): AsyncIterable<string> | undefined {
    const now = this.#clock.now();
    this.#tests = this.#tests.filter((at) => now - at < MINUTE_MS);
    const id = uuidv7(this.#clock.wall());
    const opened = this.#tests.length < MAX_TESTS ? this.#answers.open(id) : undefined;
    if (!opened) return undefined;
    this.#tests = [...this.#tests, now];
    this.#begin(ask, 'console.test', { ...question, id });
    // A caller who leaves before the first event reads none.
    return testEvents(opened, onLeave(opened.close));
  }

  /** Undefined: too many are under way. */
  async play(ask: AskParts, question: object, onLeave: OnLeave): Promise<PlayedReply | undefined> {
    const id = uuidv7(this.#clock.wall());
    const opened = this.#answers.open(id);
    if (!opened) return undefined;
    this.#begin(ask, 'console.play', { ...question, id });
    const stop = (): void => void ask('console.stop', id, 'all').catch(() => {});
    let left = false;
    // A model may think for a minute before its reply begins.
    const stay = onLeave(() => {
      left = true;
      stop();
    });
    const { head, failed = 'the request has no reply' } = await opened.next();
    stay();
    if (head && !left) return { ...head, pieces: replyPieces(opened, stop) };
    opened.close();
    throw new Error(failed);
  }

  #begin(ask: AskParts, topic: string, question: { readonly id: string }): void {
    const { id } = question;
    ask(topic, question, 'one').then(
      // No worker serves.
      (answers) => answers.length === 0 && this.#answers.receive({ id, failed: 'no worker serves' }),
      (error: Error) => this.#answers.receive({ id, failed: error.message }),
    );
  }
}

const bytesOf = ({ bytes = '' }: Piece): Buffer => Buffer.from(bytes, 'base64');

async function* testEvents(opened: Opened, stay: () => void): AsyncIterable<string> {
  let passed = true;
  try {
    for (;;) {
      const piece = await opened.next();
      if (piece.failed !== undefined) passed = false;
      if (piece.failed !== undefined)
        yield `event: step\ndata: ${JSON.stringify({ name: 'test', ok: false, ms: 0, message: piece.failed })}\n\n`;
      if (piece.bytes === undefined) break;
      const step = bytesOf(piece).toString();
      if ((JSON.parse(step) as { readonly ok: boolean | null }).ok === false) passed = false;
      yield `event: step\ndata: ${step}\n\n`;
    }
    yield `event: done\ndata: ${JSON.stringify({ ok: passed })}\n\n`;
  } finally {
    stay();
    opened.close();
  }
}

/** A reader that leaves ends the request. */
async function* replyPieces(opened: Opened, stop: () => void): AsyncIterable<Uint8Array> {
  let over = false;
  try {
    for (;;) {
      const piece = await opened.next();
      if (piece.bytes !== undefined) yield bytesOf(piece);
      else {
        over = true;
        if (piece.failed !== undefined) throw new Error(piece.failed);
        return;
      }
    }
  } finally {
    if (!over) stop();
    opened.close();
  }
}

import type { StreamOptions } from '../../../core/process/console-port.ts';
import type { PlacedLine, RecordMarks, RecordSource } from '../../../core/record/record-query.ts';
import type { Clock } from '../../../plugin/index.ts';

const MAX_STREAMS = 20;
const LOOK_MS = 250;
const COMMENT_MS = 10_000;
const MAX_LINES = 50;
/** Lines of workers that answered later than the others come twice: these are remembered. */
const MAX_SEEN = 5_000;

/**
 * Streams of requests as they end. Each asks for what has come since it last asked, so that a stream that nobody opens costs nothing, has
 * the filters of the list, and resumes where it ended. A slow client asks less often: what it misses is counted.
 */
export class RequestStreams {
  readonly #clock: Clock;
  readonly #ended: () => boolean;
  /** The oldest first. */
  readonly #open = new Set<Place>();

  constructor(clock: Clock, ended: () => boolean) {
    this.#clock = clock;
    this.#ended = ended;
  }

  /** Undefined: too many are open. The stream takes its place when it is read: a caller who has left before reads none. */
  open(records: RecordSource, options: StreamOptions): AsyncIterable<string> | undefined {
    const place: Place = { caller: options.caller };
    if (this.#open.size >= MAX_STREAMS && !this.#crowded(place)) return undefined;
    const take = (): boolean => {
      const other = this.#open.size < MAX_STREAMS ? undefined : this.#crowded(place);
      if (other) this.#open.delete(other);
      if (this.#open.size < MAX_STREAMS) this.#open.add(place);
      return this.#open.has(place);
    };
    const ended = (): boolean => this.#ended() || !this.#open.has(place);
    return eventsOf({ records, options, clock: this.#clock, ended, take, free: () => void this.#open.delete(place) });
  }

  /** The oldest stream of the caller with the most, if this one has fewer: no caller keeps the others out. */
  #crowded({ caller }: Place): Place | undefined {
    const counts = new Map<string, number>();
    for (const place of this.#open) counts.set(place.caller, (counts.get(place.caller) ?? 0) + 1);
    const [name, most] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
    return most > (counts.get(caller) ?? 0) + 1 ? [...this.#open].find((one) => one.caller === name) : undefined;
  }
}

interface Place {
  readonly caller: string;
}

interface Streaming {
  readonly records: RecordSource;
  readonly options: StreamOptions;
  readonly clock: Clock;
  readonly ended: () => boolean;
  readonly take: () => boolean;
  readonly free: () => void;
}

async function* eventsOf({ records, options, clock, ended, take, free }: Streaming): AsyncIterable<string> {
  if (!take()) return;
  // A caller who leaves frees the place at once, not with the next event.
  const stay = options.onLeave(free);
  const { lastId, news, isAllowed } = options;
  const lines = options.query && new NewLines(records, options.query, clock, lastId);
  let shown = '';
  let commentAt = 0;
  try {
    yield ': gatehouse\n\n';
    while (!ended()) {
      let text = '';
      for (const [event, data] of news()) text += eventText(event, data);
      // Told again when something of it has changed.
      let sent = text === shown ? '' : text;
      shown = text;
      if (lines) sent += await lines.next();
      if (clock.now() >= commentAt) {
        if (!(await isAllowed())) return;
        sent += ':\n\n';
        commentAt = clock.now() + COMMENT_MS;
      }
      if (sent !== '') yield sent;
      await clock.sleep(LOOK_MS);
    }
  } finally {
    stay();
    free();
  }
}

const eventText = (event: string, data: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

class NewLines {
  readonly #records: RecordSource;
  readonly #query: NonNullable<StreamOptions['query']>;
  readonly #clock: Clock;
  readonly #seen = new Set<string>();
  #marks: RecordMarks;
  #room = MAX_LINES;
  #lookedAt: number;

  constructor(
    records: RecordSource,
    query: NonNullable<StreamOptions['query']>,
    clock: Clock,
    lastId: number | undefined,
  ) {
    this.#records = records;
    this.#query = query;
    this.#clock = clock;
    this.#lookedAt = clock.now();
    const now = clock.wall();
    this.#marks =
      lastId === undefined ? { running: now, ended: now * 1000 } : { running: lastId / 1000, ended: lastId };
  }

  async next(): Promise<string> {
    const now = this.#clock.now();
    this.#room = Math.min(MAX_LINES, this.#room + ((now - this.#lookedAt) * MAX_LINES) / 1000);
    this.#lookedAt = now;
    const limit = Math.floor(this.#room);
    if (limit === 0) return '';
    const {
      lines,
      missed = 0,
      marks,
      partial = [],
    } = await this.#records.page({
      ...this.#query,
      limit,
      newer: this.#marks,
    });
    if (Number.isFinite(marks.ended)) this.#marks = marks;
    const fresh = lines.filter((line) => this.#isFresh(line));
    this.#room -= fresh.length;
    const gap = missed > 0 || partial.length > 0 ? eventText('gap', { missed, partial }) : '';
    // The latest is first in a list, and last in a stream.
    return gap + fresh.toReversed().map(lineText).join('');
  }

  #isFresh({ place, line }: PlacedLine): boolean {
    const name = `${place.running}:${place.at}:${'worker' in line ? String(line.worker) : ''}`;
    if (this.#seen.has(name)) return false;
    this.#seen.add(name);
    const [oldest] = this.#seen;
    if (this.#seen.size > MAX_SEEN && oldest !== undefined) this.#seen.delete(oldest);
    return true;
  }
}

const lineText = ({ place, line }: PlacedLine): string =>
  eventText('line', line, place.running ? undefined : String(place.at));

import type { Signals } from '../../formats/events.ts';
import { shortList } from '../kernel/short-list.ts';
import { codingOf } from '../kernel/body/content-decoder.ts';
import type { OutboundRequest } from './types.ts';

/** A 2xx before commit, with its progress. */
export interface HeldReply {
  readonly stream: boolean;
  readonly signals: Signals;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** True when a reply may be committed: it starts to be sent, and no other attempt is possible. */
export function mayCommit(held: HeldReply, { hold, commit }: Pick<OutboundRequest, 'hold' | 'commit'>): boolean {
  const { stream, signals, bytesOut } = held;
  // An incomplete plain reply is of no use, so before its end only its size can open the gate. Sound is of use at once.
  if (!stream) return bytesOut > hold.bytes || (signals.flows === true && commit === 'first_content');
  // Translation may drop bytes (pings) or add some: the larger of the two counts as held.
  const begun = hold.untilOutput ? signals.output : signals.content;
  return (begun && commit === 'first_content') || signals.ended || Math.max(held.bytesIn, bytesOut) > hold.bytes;
}

const WEB_PAGE = /^\s*text\/html\b/i;

/** The reason why a reply is unusable, whatever its body; undefined otherwise. The format reads statuses from 400 on. */
export function unusable(status: number, headers: Readonly<Record<string, string>>): string | undefined {
  // Following a redirect would let the upstream send the prompt and the credentials to another host.
  if (status >= 300 && status < 400) return `a redirect (HTTP ${status}), which is not followed`;
  if (status >= 300) return undefined;
  // A login page or a proxy's error page: no API answers with HTML.
  if (WEB_PAGE.test(headers['content-type'] ?? '')) return 'a web page (text/html)';
  // A coding that is decoded is no longer among the headers.
  const coding = codingOf(headers['content-encoding']);
  return coding === undefined ? undefined : `content-encoding ${coding}, which the gateway does not decode`;
}

/** Number of held pieces that are joined into one, because a small Buffer takes more memory than the ping in it. */
const JOINED = 64;

/** The bytes of a reply before commit, and the memory reported for them. */
export class ReplyBuffer {
  readonly #request: Pick<OutboundRequest, 'onHold'>;
  #pieces: Buffer[] = shortList();
  /** Number of pieces at the end that are not joined yet. */
  #loose = 0;
  #counted = 0;

  constructor(request: Pick<OutboundRequest, 'onHold'>) {
    this.#request = request;
  }

  keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#loose += 1;
    if (this.#loose < JOINED) return;
    this.#pieces.push(Buffer.concat(this.#pieces.splice(-JOINED)));
    this.#loose = 0;
  }

  /** Hands the pieces over. They remain counted until `release`. */
  take(): Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** Updates the number of bytes held here or in the reader. False: all replies together hold too much. */
  count(bytes: number): boolean {
    const more = bytes - this.#counted;
    this.#counted = bytes;
    return this.#request.onHold?.(more) ?? true;
  }

  /** Releases the counted bytes: they have been sent, or never will be. */
  release(): void {
    if (this.#counted === 0) return;
    const counted = this.#counted;
    this.#counted = 0;
    this.#request.onHold?.(-counted);
  }
}

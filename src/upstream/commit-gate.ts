import type { Signals } from '../formats/events.ts';
import { codingOf } from './bounded-body.ts';
import type { OutboundRequest } from './types.ts';

/** A 2xx that has not been let out yet, as far as it has come. */
export interface HeldReply {
  readonly stream: boolean;
  readonly signals: Signals;
  /** Bytes from the upstream. */
  readonly bytesIn: number;
  /** Bytes the reader has made of them. */
  readonly bytesOut: number;
}

/** Whether a reply may begin to leave, which ends all chance of another attempt. */
export function mayCommit(
  { stream, signals, bytesIn, bytesOut }: HeldReply,
  { hold, commit }: Pick<OutboundRequest, 'hold' | 'commit'>,
): boolean {
  // A plain reply is worth nothing until it is whole: only its size can open the gate before.
  if (!stream) return bytesOut > hold.bytes;
  // Translation may swallow (pings) or swell: whichever side is larger has been held.
  return (signals.content && commit === 'first_content') || signals.ended || Math.max(bytesIn, bytesOut) > hold.bytes;
}

const WEB_PAGE = /^\s*text\/html\b/i;

/** Why a reply is of no use whatever its body says, or undefined. Statuses from 400 on are for their format to read. */
export function unusable(status: number, headers: Readonly<Record<string, string>>): string | undefined {
  // Following one would let the upstream choose where the prompt and the credentials go.
  if (status >= 300 && status < 400) return `a redirect (HTTP ${status}), which is not followed`;
  if (status >= 300) return undefined;
  // A login page, a proxy's excuse: no API answers with one, and what it says is nobody's answer.
  if (WEB_PAGE.test(headers['content-type'] ?? '')) return 'a web page (text/html)';
  const coding = codingOf(headers);
  return coding === undefined ? undefined : `content-encoding ${coding}, which was not asked for`;
}

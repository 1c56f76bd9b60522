import { describe, expect, it } from 'vitest';
import { createSignals } from '../../formats/events.ts';
import { mayCommit, unusable, type HeldReply } from './commit-gate.ts';

const hold = { bytes: 100, ms: 1000 };
const held = (changes: Partial<HeldReply>, signals: object = {}): HeldReply => ({
  stream: true,
  bytesIn: 50,
  bytesOut: 50,
  ...changes,
  signals: { ...createSignals(), ...signals },
});

describe('the commit gate', () => {
  it.each<[string, HeldReply, boolean]>([
    ['before content', held({}, { progress: 3, model: 'm' }), false],
    ['at the first content', held({}, { content: true }), true],
    ['at a proper end without content', held({}, { ended: true }), true],
    ['at exactly the hold', held({ bytesIn: 100, bytesOut: 100 }), false],
    ['past the hold, in what came out', held({ bytesIn: 10, bytesOut: 101 }), true],
    ['past the hold, in what was swallowed', held({ bytesIn: 101, bytesOut: 0 }), true],
    ['at the content of a plain reply', held({ stream: false }, { content: true, ended: true }), false],
    ['past the hold in a plain reply that passes through', held({ stream: false, bytesIn: 101, bytesOut: 101 }), true],
    ['in a plain reply that is read whole', held({ stream: false, bytesIn: 1e6, bytesOut: 0 }), false],
  ])('%s', (_, reply, open) => expect(mayCommit(reply, { hold, commit: 'first_content' })).toBe(open));

  it.each<[string, HeldReply, boolean]>([
    ['at the first content', held({}, { content: true }), false],
    ['at a proper end', held({}, { content: true, ended: true }), true],
    ['past the hold', held({ bytesIn: 101 }, { content: true }), true],
  ])('of a stream with `commit: complete`: %s', (_, reply, open) =>
    expect(mayCommit(reply, { hold, commit: 'complete' })).toBe(open),
  );
});

it.each<[number, Record<string, string>, string | undefined]>([
  [200, {}, undefined],
  [200, { 'content-encoding': 'identity' }, undefined],
  [200, { 'content-encoding': ' Compress' }, 'content-encoding compress'],
  [304, {}, 'redirect (HTTP 304)'],
  [307, {}, 'redirect (HTTP 307)'],
  [200, { 'content-type': 'text/html; charset=utf-8' }, 'a web page (text/html)'],
  [201, { 'content-type': ' Text/HTML' }, 'a web page (text/html)'],
  [200, { 'content-type': 'text/event-stream' }, undefined],
  [503, { 'content-type': 'text/html' }, undefined],
  [429, { 'content-encoding': 'gzip' }, undefined],
])('a reply with status %i and headers %j is unusable for: %s', (status, headers, reason) => {
  if (reason === undefined) expect(unusable(status, headers)).toBeUndefined();
  else expect(unusable(status, headers)).toContain(reason);
});

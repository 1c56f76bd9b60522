import { describe, expect, it } from 'vitest';
import { readTraceparent } from './traceparent.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

describe('traceparent', () => {
  it.each([
    [`00-${TRACE}-${PARENT}-01`, 1],
    [`00-${TRACE}-${PARENT}-00`, 0],
    [` 00-${TRACE}-${PARENT}-03 `, 3],
    // A later version may append fields; the known ones are still valid.
    [`cc-${TRACE}-${PARENT}-01-what-the-future-will-be-like`, 1],
  ])('%j is a remote parent', (traceparent, traceFlags) => {
    expect(readTraceparent({ traceparent })).toEqual({ traceId: TRACE, spanId: PARENT, traceFlags });
  });

  it.each([
    undefined,
    '',
    'x',
    `ff-${TRACE}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
  ])('%j is not a remote parent', (traceparent) => {
    expect(readTraceparent(traceparent === undefined ? {} : { traceparent })).toBeUndefined();
  });

  it('includes its tracestate, up to the length that must be propagated', () => {
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    const tracestate = 'vendor=1,other=2';
    expect(readTraceparent({ traceparent, tracestate })?.tracestate).toBe(tracestate);
    expect(readTraceparent({ traceparent, tracestate: `a=${'x'.repeat(600)}` })?.tracestate).toBeUndefined();
  });
});

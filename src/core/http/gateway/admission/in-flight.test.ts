import fc from 'fast-check';
import { ServerResponse, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { GatewayError, type ReplyEnd } from '../../../../plugin/index.ts';
import { createCaller, createExchange, createFakeClock, type TestExchange } from '../../../../plugin/testing/index.ts';
import { InFlight, type LeavingReply, type LoadLimits } from './in-flight.ts';

function limitsOf(inFlight: number, inFlightBytes: number): LoadLimits {
  return { inFlight, inFlightBytes, inFlightPerKey: inFlight, inFlightBytesPerKey: inFlightBytes, pipelined: 16 };
}

/** A reply that its client never reads. */
const deaf: LeavingReply = { leaving: false, abort: () => {}, clientLeft: () => {}, closed: () => {} };

/** Without per-key limits: one key may use everything. */
const LIMITS = limitsOf(3, 100);

interface Request {
  readonly exchange: TestExchange;
  readonly res: ServerResponse;
  readonly ends: ReplyEnd[];
  readonly refusal: GatewayError | undefined;
}

function start(limits = LIMITS) {
  // No upload is slow, because the clock stands still.
  const inFlight = new InFlight({ clock: createFakeClock() });
  inFlight.apply(limits);
  const arrive = (refused = false): Request => {
    const exchange = createExchange();
    const res = new ServerResponse(new IncomingMessage(new Socket()));
    const ends: ReplyEnd[] = [];
    const settle = (end: ReplyEnd): void => {
      if (inFlight.leave(exchange)) ends.push(end);
    };
    return { exchange, res, ends, refusal: inFlight.enter({ exchange, res, refused, settle }) };
  };
  return { inFlight, arrive };
}

describe('requests in flight', () => {
  it('are refused beyond the limit until one has ended', () => {
    const { inFlight, arrive } = start();
    const [first] = [arrive(), arrive(), arrive()] as const;
    expect(arrive().refusal).toMatchObject({ code: 'busy', status: 503, retryAfterMs: 1000 });
    inFlight.leave(first.exchange);
    expect(arrive().refusal).toBeUndefined();
    expect(arrive().refusal).toMatchObject({ code: 'busy' });
  });

  it('take no place when they are refused, by the limit or by the router', () => {
    const { arrive } = start();
    for (let count = 0; count < 10; count += 1) expect(arrive(true).refusal).toBeUndefined();
    expect([arrive(), arrive(), arrive()].map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined]);
    expect([arrive(), arrive()].map(({ refusal }) => refusal?.code)).toEqual(['busy', 'busy']);
  });

  it('leave no share of their key behind when they were refused before the key was known', () => {
    const { inFlight, arrive } = start();
    const { exchange } = arrive(true);
    exchange.caller = createCaller({ keyId: 'k' });
    expect(inFlight.admit(exchange)).toBeUndefined();
    inFlight.leave(exchange);
    expect(inFlight.keys).toBe(0);
  });

  it('follow new limits as soon as these apply', () => {
    const { inFlight, arrive } = start();
    const [{ exchange }] = [arrive(), arrive(), arrive()] as const;
    inFlight.apply(limitsOf(4, 200));
    expect(arrive().refusal).toBeUndefined();
    expect(inFlight.reserve(exchange, 200)).toBeUndefined();
    inFlight.apply(limitsOf(1, 10));
    expect(inFlight.reserve(exchange, 0)?.code).toBe('busy');
    expect(arrive().refusal?.code).toBe('busy');
  });

  it('reserve no bytes once they have ended: nothing would release them', () => {
    const { inFlight, arrive } = start();
    const { exchange } = arrive();
    inFlight.leave(exchange);
    expect([inFlight.reserve(exchange, 1)?.code, inFlight.bytes]).toEqual(['client_closed', 0]);
  });
});

type Step = { readonly kind: 'enter' | 'reserve' | 'leave'; readonly index: number; readonly bytes: number };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('enter' as const, 'reserve' as const, 'leave' as const),
    index: fc.nat(5),
    bytes: fc.nat(60),
  }),
  { maxLength: 60 },
);

it('the bytes always equal the sum over all holders, stay within the limit and end at zero', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const { inFlight, arrive } = start(limitsOf(1000, 100));
      const requests = Array.from({ length: 6 }, () => arrive().exchange);
      const held = requests.map(() => 0);
      const gone = requests.map(() => false);
      for (const { kind, index, bytes } of script) {
        const exchange = requests[index]!;
        const sum = held.reduce((total, one) => total + one, 0);
        if (kind === 'enter') arrive(true);
        if (kind === 'reserve') {
          const fits = !gone[index] && sum + bytes <= 100;
          expect(inFlight.reserve(exchange, bytes) === undefined).toBe(fits);
          if (fits) held[index]! += bytes;
        }
        if (kind === 'leave') expect(inFlight.leave(exchange)).toBe(!gone[index]);
        if (kind === 'leave') [gone[index], held[index]] = [true, 0];
        expect(inFlight.bytes).toBe(held.reduce((total, one) => total + one, 0));
      }
      for (const exchange of requests) inFlight.leave(exchange);
      expect(inFlight.bytes).toBe(0);
    }),
  );
});

describe('a cut', () => {
  it('aborts replies that have begun, cancels waiting requests and refuses new ones', () => {
    const { inFlight, arrive } = start();
    const [running, waiting] = [arrive(), arrive()];
    const aborted: string[] = [];
    inFlight.replies(running.exchange, { ...deaf, abort: ({ code }) => aborted.push(code) });
    expect(inFlight.cut()).toBe(2);
    expect(aborted).toEqual(['shutting_down']);
    expect(running.exchange.cancellation.reason).toBeUndefined();
    expect(waiting.exchange.cancellation.reason).toMatchObject({ code: 'shutting_down', retryAfterMs: 1000 });
    expect(arrive().refusal?.code).toBe('shutting_down');
  });

  it('aborts a reply that begins after it', () => {
    const { inFlight, arrive } = start();
    const { exchange } = arrive();
    inFlight.cut();
    const aborted: string[] = [];
    inFlight.replies(exchange, { ...deaf, abort: ({ code }) => aborted.push(code) });
    expect(aborted).toEqual(['shutting_down']);
  });

  it('settles requests whose chain never ends', () => {
    const { inFlight, arrive } = start();
    const [hung, ended] = [arrive(), arrive()];
    inFlight.cut();
    inFlight.leave(ended.exchange);
    inFlight.abandon();
    expect(hung.ends).toMatchObject([{ state: 'failed', status: 503, error: { code: 'shutting_down' } }]);
    expect([ended.ends, inFlight.size]).toEqual([[], 0]);
  });
});

it('`empty` resolves when the last request has ended, counting refused ones', async () => {
  const { inFlight, arrive } = start();
  await inFlight.empty();
  const [one, other] = [arrive(), arrive(true)];
  let empty = false;
  const reported = inFlight.empty().then(() => (empty = true));
  inFlight.leave(one.exchange);
  await Promise.resolve();
  expect(empty).toBe(false);
  inFlight.leave(other.exchange);
  await reported;
});

it('a request can be interrupted only until its reply begins', () => {
  const { inFlight, arrive } = start();
  const [waiting, running] = [arrive(), arrive()];
  inFlight.replies(running.exchange, deaf);
  const reason = new GatewayError('request_timeout', 'slow');
  expect([waiting.res, running.res].map((res) => inFlight.interrupt(res, reason))).toEqual([true, false]);
  expect(waiting.exchange.cancellation.reason).toBe(reason);
  expect(running.exchange.cancellation.reason).toBeUndefined();
});

describe('held replies', () => {
  it('count against the room for bodies, even beyond the limit', () => {
    const { inFlight, arrive } = start();
    const [holding, next] = [arrive(), arrive()];
    expect(inFlight.hold(holding.exchange, 100)).toBe(true);
    expect(inFlight.hold(holding.exchange, 20)).toBe(false);
    expect([inFlight.bytes, inFlight.reserve(next.exchange, 1)?.code]).toEqual([120, 'busy']);
    expect(inFlight.hold(holding.exchange, -60)).toBe(true);
    expect(inFlight.reserve(next.exchange, 40)).toBeUndefined();
  });

  it('release their bytes once, with their request, and count none after it', () => {
    const { inFlight, arrive } = start();
    const { exchange } = arrive();
    inFlight.hold(exchange, 70);
    inFlight.leave(exchange);
    inFlight.hold(exchange, -70);
    inFlight.hold(exchange, 5);
    expect(inFlight.bytes).toBe(0);
  });
});

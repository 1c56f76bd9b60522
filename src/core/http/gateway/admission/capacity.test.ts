import fc from 'fast-check';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../kernel/index.ts';
import { createExchange, createFakeClock } from '../../../../plugin/testing/index.ts';
import { Room, type Admission } from './capacity.ts';

const LIMITS = { inFlight: 20, inFlightPerKey: 5, inFlightBytes: 1000, inFlightBytesPerKey: 250 };

function open(limits = LIMITS) {
  const clock = createFakeClock();
  const reported: string[] = [];
  const room = new Room({ clock, onFull: (limit, action) => reported.push(`${action} ${limit}`) });
  room.apply(limits);
  /** Takes a request through both steps. `key` undefined: its auth plugin names no caller. */
  const arrive = (key?: string) => {
    const exchange = Object.assign(createExchange(), { startedAt: clock.now() });
    exchange.caller = key === undefined ? undefined : ({ keyId: key } as Caller);
    const place = room.open({ exchange, res: new ServerResponse(new IncomingMessage(new Socket())) });
    return { place, exchange, refused: (room.enter(place) ?? room.admit(place))?.code };
  };
  return { clock, room, reported, arrive };
}

const whole = (place: Admission): void => void (place.res.req.complete = true);

describe('shares of requests', () => {
  it('keep a quarter of the places for keys below their share, and count all callers without a key as one', () => {
    const { arrive, reported } = open();
    const codes = (key: string | undefined, count: number) => Array.from({ length: count }, () => arrive(key).refused);
    expect(codes(undefined, 16).filter((code) => code === 'busy')).toHaveLength(1);
    expect(codes('a', 5)).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(codes('b', 1)).toEqual(['busy']);
    expect(reported).toEqual(['refused in_flight_per_key', 'refused in_flight']);
  });

  it('move to the caller that was identified last', () => {
    const { room, arrive } = open();
    const { place, exchange } = arrive('a');
    room.reserve(place, 100);
    exchange.caller = { keyId: 'b' } as Caller;
    expect([room.admit(place), place.share.key, place.share.bytes, room.keys]).toEqual([undefined, 'b', 100, 1]);
    room.release(place);
    expect([room.keys, room.bytes]).toEqual([0, 0]);
  });

  it('name the caller, the limit and its setting in the refusal', () => {
    const { room, arrive } = open({ ...LIMITS, inFlight: 2, inFlightPerKey: 1 });
    const [{ place }] = [arrive('a'), arrive('b')];
    expect(room.enter(place)?.message).toBe('The gateway has 2 requests in flight, the limit (limits.in_flight).');
    room.apply({ ...LIMITS, inFlight: 3, inFlightPerKey: 1 });
    const messageOf = (key?: string): string | undefined => {
      const exchange = createExchange();
      exchange.caller = key === undefined ? undefined : ({ keyId: key } as Caller);
      const third = room.open({ exchange, res: place.res });
      const refusal = room.enter(third) ?? room.admit(third);
      room.release(third);
      return refusal?.message;
    };
    expect(messageOf('a')).toBeUndefined();
    arrive('b');
    room.apply({ ...LIMITS, inFlight: 4, inFlightPerKey: 1 });
    expect(messageOf('a')).toBe(
      'The key a has used up its share of the requests in flight, 1 (limits.in_flight_per_key): three quarters of limits.in_flight (4) are taken.',
    );
  });
});

describe('shares of bytes', () => {
  it('let the only body of a caller exceed its share, also piece by piece, and no second body beside it', () => {
    const { room, arrive, reported } = open();
    const [{ place: first }, { place: second }] = [arrive('a'), arrive('a')];
    for (const bytes of [300, 500, 100]) expect(room.reserve(first, bytes)).toBeUndefined();
    expect(room.reserve(second, 10)?.code).toBe('busy');
    expect([room.bytes, reported]).toEqual([900, ['refused in_flight_bytes_per_key']]);
  });
});

describe('slow uploads', () => {
  it('are dropped after one second, the oldest first, and never once they are complete', async () => {
    const { clock, room, arrive, reported } = open({ ...LIMITS, inFlight: 3, inFlightPerKey: 3 });
    const uploads = [arrive('a'), arrive('a'), arrive('b')];
    for (const { place } of uploads) room.reserve(place, 10);
    expect(arrive('c').refused).toBe('busy');
    await clock.advance(1000);
    whole(uploads[0]!.place);
    expect(arrive('c').refused).toBeUndefined();
    expect(uploads.map(({ exchange }) => exchange.cancellation.reason?.code)).toEqual([
      undefined,
      'body_too_slow',
      undefined,
    ]);
    expect(room.bytes).toBe(20);
    expect(reported).toEqual(['refused in_flight', 'dropped in_flight']);
  });

  it('are not dropped to make room for themselves', async () => {
    const { clock, room, arrive } = open({ ...LIMITS, inFlightBytes: 10 });
    const { place, exchange } = arrive('a');
    room.reserve(place, 5);
    await clock.advance(2000);
    expect(room.reserve(place, 6)?.code).toBe('busy');
    expect(exchange.cancellation.reason).toBeUndefined();
  });
});

interface Step {
  readonly kind: 'arrive' | 'reserve' | 'hold' | 'leave' | 'whole' | 'wait';
  readonly key: string;
  readonly which: number;
  readonly bytes: number;
}

const steps = (keys: readonly string[]): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record({
      kind: fc.constantFrom('arrive', 'arrive', 'reserve', 'reserve', 'hold', 'leave', 'whole', 'wait'),
      key: fc.constantFrom(...keys),
      which: fc.nat(40),
      bytes: fc.nat(200),
    }),
    { maxLength: 120 },
  );

async function play(script: readonly Step[]) {
  const { clock, room, arrive } = open();
  const places: Admission[] = [];
  for (const { kind, key, which, bytes } of script) {
    const place = places[which % Math.max(1, places.length)];
    if (kind === 'arrive') places.push(arrive(key).place);
    else if (kind === 'wait') await clock.advance(400);
    else if (!place) continue;
    else if (kind === 'reserve') room.reserve(place, bytes);
    else if (kind === 'hold') room.hold(place, Math.min(bytes, 20));
    else if (kind === 'whole') whole(place);
    else room.release(place);
  }
  return { room, arrive, places };
}

it('the held total always equals the sum over all requests, and is zero at the end', async () => {
  await fc.assert(
    fc.asyncProperty(steps(['a', 'b', 'c']), async (script) => {
      const { room, places } = await play(script);
      expect(room.bytes).toBe(places.reduce((sum, { bytes }) => sum + bytes, 0));
      expect(places.filter(({ counted }) => counted).length).toBeLessThanOrEqual(LIMITS.inFlight);
      for (const { share } of places) {
        const own = places.filter((place) => place.share === share);
        expect(share.bytes).toBe(own.reduce((sum, { bytes }) => sum + bytes, 0));
        expect(share.requests).toBe(own.filter(({ counted }) => counted).length);
      }
      for (const place of places) room.release(place);
      expect([room.bytes, room.keys]).toEqual([0, 0]);
    }),
  );
});

it('no behaviour of one key keeps another key from a request with a small body', async () => {
  await fc.assert(
    fc.asyncProperty(steps(['a']), async (script) => {
      // Held replies are in memory already: they count, and no limit stops them.
      const { room, arrive } = await play(script.filter(({ kind }) => kind !== 'hold'));
      const { place, refused } = arrive('honest');
      expect([refused, room.reserve(place, 50)]).toEqual([undefined, undefined]);
    }),
  );
});

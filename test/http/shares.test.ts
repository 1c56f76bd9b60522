import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { until } from '../support/gateway.ts';
import { json, openaiReply } from '../support/upstream.ts';
import { answer, ask, bodyOf, fill, headOf, metric, OTHER_KEY, start, Wire, type Place } from './overload.testkit.ts';

const refused = async (reply: Response): Promise<unknown> => {
  const { error } = (await reply.json()) as { error: { code: string; message: string } };
  return [reply.status, error.code, /limits\.\w+/.exec(error.message)?.[0]];
};

const dropped = (limit: string, action: string): string =>
  `gatehouse_limit_refusals_total{limit="${limit}",action="${action}"}`;

/** Answers every request of the upstream, those to come included. */
const answerAll = (place: Place): void => {
  for (const reply of place.replies) if (!reply.writableEnded) answer(reply);
};

describe('pipelined requests of one connection', () => {
  const CHAT = (name: string): string => {
    const body = JSON.stringify({ model: '@own/m', messages: [{ role: 'user', content: name }] });
    return `${headOf(body.length)}\r\n${body}`;
  };
  const nameOf = (place: Place, index: number): string => {
    const [message] = place.upstream.seen[index]!.json['messages'] as { content: string }[];
    return message!.content;
  };

  it('leave room for every other key, 1,100 slow ones included, and are all answered in their order', async () => {
    const place = await start({});
    const wire = new Wire(place);
    const names = Array.from({ length: 1100 }, (_, index) => `request-${index}`);
    wire.socket.write(names.map(CHAT).join(''));
    await until(() => place.replies.length === 16, 'as many as may be are at the upstream');
    const other = ask(place, { key: OTHER_KEY });
    await until(() => place.replies.length === 17, 'the other key is served');
    answer(place.replies[16]!);
    expect((await other).status).toBe(200);
    expect((await place.gateway.gateway.metrics.scrape(undefined)).text).toContain(
      'gatehouse_requests_in_flight{route="/v1/chat/completions"} 16\n',
    );

    let done = 0;
    const reply = (): void => {
      for (; done < place.replies.length; done += 1)
        if (done !== 16) json(place.replies[done]!, openaiReply(`answers ${nameOf(place, done)}`));
    };
    await until(() => {
      reply();
      return wire.text.includes('answers request-1099"');
    }, 'all are answered');
    expect([...wire.text.matchAll(/answers (request-\d+)"/g)].map(([, name]) => name)).toEqual(names);
    expect(wire.text.match(/HTTP\/1\.1 200 /g)).toHaveLength(1100);
  }, 60_000);

  it('are served one after the other where `pipelined` is 1', async () => {
    const place = await start({ limits: { pipelined: 1 } });
    const wire = new Wire(place);
    wire.socket.write(['a', 'b', 'c'].map(CHAT).join(''));
    for (const count of [1, 2, 3]) {
      await until(() => place.replies.length === count, `request ${count} is at the upstream`);
      expect((await (await fetch(`${place.gateway.url}/nowhere`)).text()).length).toBeGreaterThan(0);
      expect(place.replies).toHaveLength(count);
      answer(place.replies[count - 1]!);
    }
    await until(() => wire.text.match(/HTTP\/1\.1 200 /g)?.length === 3, 'all are answered');
  });

  it.each([
    ['no HTTP at all', 'GARBAGE\r\n\r\n', 'malformed_request'],
    [
      'a head that is too large',
      `GET / HTTP/1.1\r\nhost: gateway\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
      'headers_too_large',
    ],
  ])('have their replies before the refusal of %s', async (_, text, code) => {
    const place = await start({});
    const wire = new Wire(place);
    wire.socket.write(['a', 'b'].map(CHAT).join('') + text);
    await until(() => place.replies.length === 2, 'both are at the upstream');
    wire.socket.write(text);
    json(place.replies[1]!, openaiReply('answers b'));
    json(place.replies[0]!, openaiReply('answers a'));
    await wire.closed;
    const reported = [...wire.text.matchAll(/answers [ab]|malformed_request|headers_too_large/g)].map(([word]) => word);
    expect(reported).toEqual(['answers a', 'answers b', code]);
  });

  it('are given up with their connection, those that wait included', async () => {
    const place = await start({ limits: { pipelined: 4 } });
    const wire = new Wire(place);
    wire.socket.write(Array.from({ length: 10 }, (_, index) => CHAT(`n${index}`)).join(''));
    await until(() => place.replies.length === 4, 'four are at the upstream');
    wire.socket.resetAndDestroy();
    answer(place.replies[0]!);
    await until(() => place.upstream.seen.filter(({ aborted }) => aborted).length >= 3, 'the upstream is let go');
    expect((await ask(place, { key: 'nobody' })).status).toBe(401);
    expect(place.replies).toHaveLength(4);
  });
});

describe('limits.in_flight_per_key', () => {
  it('keeps the last quarter for keys that hold less than their share', async () => {
    const place = await start({ limits: { in_flight: 20 } });
    await fill(place, 15);
    expect(await refused(await ask(place))).toEqual([503, 'busy', 'limits.in_flight_per_key']);
    await fill(place, 5, { key: OTHER_KEY });
    expect(await refused(await ask(place, { key: OTHER_KEY }))).toEqual([503, 'busy', 'limits.in_flight']);
    expect(await refused(await ask(place))).toEqual([503, 'busy', 'limits.in_flight']);
    expect(await metric(place, dropped('in_flight_per_key', 'refused'))).toBe(1);
    expect(await metric(place, dropped('in_flight', 'refused'))).toBe(2);
    answerAll(place);
    await until(() => place.gateway.logs.filter((line) => line['status'] === 200).length === 20, 'all have ended');
    await fill(place, 15);
  });

  it('has the share that the settings name, from a reload on', async () => {
    const place = await start({ limits: { in_flight: 8, in_flight_per_key: 8 } });
    await fill(place, 8);
    answerAll(place);
    await until(() => place.gateway.logs.filter((line) => line['status'] === 200).length === 8, 'all have ended');
    await place.relimit({ in_flight: 8, in_flight_per_key: 1 });
    await fill(place, 6);
    expect(await refused(await ask(place))).toEqual([503, 'busy', 'limits.in_flight_per_key']);
    await fill(place, 1, { key: OTHER_KEY });
    expect(await refused(await ask(place, { key: OTHER_KEY }))).toEqual([503, 'busy', 'limits.in_flight_per_key']);
  });

  it('counts no client without a key that reads none of its refusals', async () => {
    const place = await start({ limits: { in_flight: 4, pipelined: 1000 } });
    const wire = new Wire(place);
    wire.socket.pause();
    const one = `${headOf(2, '/v1/chat/completions', 'gk-of-nobody')}\r\n{}`;
    wire.socket.write(one.repeat(2000));
    await until(() => place.gateway.logs.filter((line) => line['status'] === 401).length > 100, 'they are refused');
    const reply = ask(place);
    await until(() => place.replies.length === 1, 'the key is served');
    answerAll(place);
    expect((await reply).status).toBe(200);
  });
});

describe('limits.in_flight_bytes_per_key', () => {
  it('leaves room for small bodies of other keys', async () => {
    const place = await start({ limits: { body: '20KiB', in_flight_bytes: '100KiB' } });
    await fill(place, 5, { size: 14_000 });
    expect(await refused(await ask(place, { size: 14_000 }))).toEqual([503, 'busy', 'limits.in_flight_bytes_per_key']);
    await fill(place, 1, { size: 14_000, key: OTHER_KEY });
    expect(await metric(place, dropped('in_flight_bytes_per_key', 'refused'))).toBe(1);
  });
});

describe('a body that is still arriving after a second', () => {
  const half = (place: Place, key?: string, length = 1000): Wire => {
    const wire = new Wire(place);
    wire.socket.write(`${headOf(length, undefined, key)}\r\n{"model":`);
    return wire;
  };
  const underWay = async (place: Place, count: number): Promise<void> => {
    const name = 'gatehouse_requests_in_flight{route="/v1/chat/completions"}';
    while ((await metric(place, name)) !== count);
  };
  const opened = async (place: Place, count: number, key?: string, length?: number): Promise<Wire[]> => {
    const wires: Wire[] = [];
    for (let made = 0; made < count; made += 1) {
      wires.push(half(place, key, length));
      await underWay(place, made + 1);
    }
    return wires;
  };

  it('makes room for another request, the oldest first, and its client reads why', async () => {
    const clock = createFakeClock();
    const place = await start({ limits: { in_flight: 4, in_flight_per_key: 4 } }, { clock });
    const wires = await opened(place, 4);
    expect(await refused(await ask(place, { key: OTHER_KEY }))).toEqual([503, 'busy', 'limits.in_flight']);
    await clock.advance(1000);
    await fill(place, 1, { key: OTHER_KEY });
    await until(() => wires[0]!.text.includes('}}'), 'the oldest is dropped');
    await wires[0]!.closed;
    expect(wires[0]!.text).toMatch(/^HTTP\/1\.1 503 /);
    expect(wires[0]!.text).toContain('\r\nconnection: close\r\n');
    expect(wires[0]!.answer).toMatchObject({
      error: { code: 'body_too_slow', message: expect.stringContaining('limits.in_flight)') },
    });
    expect(wires.slice(1).map(({ text }) => text)).toEqual(['', '', '']);
    expect(await metric(place, dropped('in_flight', 'dropped'))).toBe(1);
  });

  it('makes room for its own key alone, where that has used up its share', async () => {
    const clock = createFakeClock();
    const place = await start({ limits: { in_flight: 8, in_flight_per_key: 2 } }, { clock });
    const [others] = await opened(place, 1, OTHER_KEY);
    for (let count = 2; count <= 6; count += 1) {
      half(place);
      await underWay(place, count);
    }
    await clock.advance(1000);
    await fill(place, 1);
    expect(await metric(place, dropped('in_flight_per_key', 'dropped'))).toBe(1);
    expect(others!.text).toBe('');
  });

  it('makes room for the bytes of another, as many as are needed and no more', async () => {
    const clock = createFakeClock();
    const limits = { body: '60KiB', in_flight_bytes: '100KiB' };
    const place = await start({ limits }, { clock });
    const wires = await opened(place, 4, OTHER_KEY, 18_000);
    expect(await refused(await ask(place, { size: 50_000 }))).toEqual([503, 'busy', 'limits.in_flight_bytes']);
    await clock.advance(1000);
    await fill(place, 1, { size: 50_000 });
    await Promise.all(wires.slice(0, 2).map(({ closed }) => closed));
    expect(wires.map(({ text }) => text.includes('"body_too_slow"'))).toEqual([true, true, false, false]);
  });

  it('stays where dropping it would make no room', async () => {
    const clock = createFakeClock();
    const place = await start({ limits: { body: '60KiB', in_flight_bytes: '60KiB' } }, { clock });
    const { asked } = await fill(place, 1, { size: 40_000 });
    const wire = half(place, OTHER_KEY, 10_000);
    await underWay(place, 2);
    await clock.advance(1000);
    expect(await refused(await ask(place, { size: 50_000, key: OTHER_KEY }))).toEqual([
      503,
      'busy',
      'limits.in_flight_bytes',
    ]);
    expect(wire.text).toBe('');
    const rest = bodyOf(0).slice(9);
    expect(rest.length).toBeGreaterThan(0);
    answerAll(place);
    expect((await asked[0]!).status).toBe(200);
  });
});

import { describe, expect, it } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { openaiChunk } from '../support/upstream.ts';
import { answer, ask, bodyOf, codes, fill, headOf, metric, start, Wire, type Place } from './overload.testkit.ts';

describe('limits.in_flight', () => {
  it('refuses one more, in its client’s format, and serves again when one has ended', async () => {
    const place = await start({ limits: { in_flight: 2 } });
    const { asked: running } = await fill(place, 2);
    const chat = await ask(place);
    expect([chat.status, chat.headers.get('retry-after'), chat.headers.get('connection')]).toEqual([
      503,
      '1',
      'keep-alive',
    ]);
    expect(await chat.json()).toMatchObject({ error: { code: 'busy', type: 'server_error' } });
    const messages = await ask(place, { path: '/v1/messages' });
    expect(await messages.json()).toMatchObject({ type: 'error', error: { message: expect.stringContaining('2') } });
    expect(place.upstream.seen).toHaveLength(2);

    answer(place.replies[0]!);
    await (await Promise.race(running)).text();
    await fill(place, 1);
    for (const reply of place.replies.slice(1)) answer(reply);
    for (const one of running) expect((await one).status).toBe(200);
  });

  it('refuses before it asks who it is, counts it, and has a line of it', async () => {
    const place = await start({ limits: { in_flight: 1 } });
    await fill(place, 1);
    for (const key of [KEY, 'nobody']) expect((await ask(place, { key })).status).toBe(503);
    await until(() => codes(place.gateway).length === 2, 'both are logged');
    expect(codes(place.gateway)).toEqual(['busy', 'busy']);
    const labels = '{route="/v1/chat/completions"';
    expect(await metric(place, `gatehouse_requests_rejected_total${labels},reason="overload",key_id=""}`)).toBe(2);
    expect(await metric(place, `gatehouse_requests_in_flight${labels}}`)).toBe(1);
    expect((await fetch(`${place.gateway.url}/nowhere`)).status).toBe(404);
  });

  it('counts a stream until its end, and a client that has left no more', async () => {
    const place = await start({ limits: { in_flight: 1 } });
    const leaver = new AbortController();
    const { url } = place.gateway;
    const stream = fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: bodyOf(0, true),
      signal: leaver.signal,
    });
    await until(() => place.replies.length === 1, 'the upstream is asked');
    place.replies[0]!.writeHead(200, { 'content-type': 'text/event-stream' });
    place.replies[0]!.write(`data: ${JSON.stringify(openaiChunk({ content: 'one' }))}\n\n`);
    await stream;
    expect((await ask(place)).status).toBe(503);
    leaver.abort();
    await until(() => codes(place.gateway).includes('client_closed'), 'the stream has ended');
    await fill(place, 1);
  });

  it('closes the connection of a body that would cost more to read than a new connection', async () => {
    const place = await start({ limits: { in_flight: 1 } });
    await fill(place, 1);
    for (const [length, connection] of [
      [2_000_000, 'close'],
      ['chunked', 'close'],
      [2000, 'keep-alive'],
    ] as const) {
      const wire = new Wire(place);
      wire.socket.write(`${headOf(length)}\r\n`);
      await until(() => wire.text.includes('"busy"'), 'it is refused');
      expect(wire.text).toContain(`\r\nconnection: ${connection}\r\n`.replace('connection: keep', 'Connection: keep'));
    }
  });

  it('holds from a reload on', async () => {
    const place = await start({ limits: { in_flight: 1 } });
    await fill(place, 1);
    await place.relimit({ in_flight: 2 });
    await fill(place, 1);
    expect((await ask(place)).status).toBe(503);
  });
});

async function underWay(place: Place, count: number): Promise<void> {
  const name = 'gatehouse_requests_in_flight{route="/v1/chat/completions"}';
  for (let seen = await metric(place, name); seen !== count;) seen = await metric(place, name);
}

describe('limits.in_flight_bytes', () => {
  const limits = { body: '60KiB', in_flight_bytes: '100KiB' };
  const large = { size: 55_000 };

  it('refuses a body that does not fit beside those that are held, and takes a small one', async () => {
    const place = await start({ limits });
    const {
      asked: [first],
    } = await fill(place, 1, large);
    const refused = await ask(place, large);
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
      503,
      '1',
      { error: { code: 'busy', message: expect.stringContaining('limits.in_flight_bytes') } },
    ]);
    await fill(place, 1);
    answer(place.replies[0]!);
    expect((await first!).status).toBe(200);
    await fill(place, 1, large);
  });

  it('is checked after the key: a request without a key takes no room', async () => {
    const place = await start({ limits });
    await fill(place, 1, large);
    expect((await ask(place, { ...large, key: 'nobody' })).status).toBe(401);
  });

  it('has room again when a stream has ended, for undici keeps what it has sent until then', async () => {
    const place = await start({ limits });
    const {
      asked: [stream],
    } = await fill(place, 1, { ...large, stream: true });
    place.replies[0]!.writeHead(200, { 'content-type': 'text/event-stream' });
    place.replies[0]!.write(`data: ${JSON.stringify(openaiChunk({ content: 'one' }))}\n\n`);
    const begun = await stream!;
    expect((await ask(place, large)).status).toBe(503);
    place.replies[0]!.end(`data: ${JSON.stringify(openaiChunk({}, 'stop'))}\n\ndata: [DONE]\n\n`);
    await begun.text();
    await fill(place, 1, large);
  });

  it('counts a body of unknown length as it comes', async () => {
    const place = await start({ limits });
    await fill(place, 1, large);
    const wire = new Wire(place);
    wire.socket.write(`${headOf('chunked')}\r\n`);
    for (let count = 0; count < 55 && wire.text === ''; count += 1) {
      wire.socket.write(`400\r\n${' '.repeat(1024)}\r\n`);
      await new Promise(setImmediate);
    }
    await until(() => wire.text.includes('"busy"'), 'it is refused');
    expect(wire.text).toContain('HTTP/1.1 503 ');
  });

  it('refuses a body without room before the client sends it (`expect: 100-continue`)', async () => {
    const place = await start({ limits });
    await fill(place, 1, large);
    const wire = new Wire(place);
    wire.socket.write(`${headOf(55_000)}expect: 100-continue\r\n\r\n`);
    await until(() => wire.text.includes('"busy"'), 'it is refused');
    expect(wire.text).not.toContain('100 Continue');
  });

  it('is whole again after requests of every fate', async () => {
    const place = await start({ limits: { body: '60KiB', in_flight_bytes: '60KiB' } });
    const half = () => {
      const wire = new Wire(place);
      wire.socket.write(`${headOf(50_000)}\r\n{"model":`);
      return wire;
    };
    const fates: (() => Promise<unknown>)[] = [
      async () => {
        const wire = half();
        await underWay(place, 1);
        wire.socket.destroy();
      },
      async () => {
        const wire = half();
        await underWay(place, 1);
        wire.socket.resetAndDestroy();
      },
      async () => ask(place, { key: 'nobody', size: 50_000 }),
      async () => ask(place, { size: 50_000, headers: { 'content-type': 'text/plain' } }),
      async () => {
        const leaver = new Wire(place);
        const body = bodyOf(50_000);
        const before = place.replies.length;
        leaver.socket.write(`${headOf(body.length)}\r\n${body}`);
        await until(() => place.replies.length > before, 'the upstream is asked');
        leaver.socket.destroy();
        await until(() => place.upstream.seen.at(-1)!.aborted, 'the upstream is left');
      },
      async () => {
        const {
          asked: [one],
        } = await fill(place, 1, { size: 50_000 });
        place.replies.at(-1)!.writeHead(400, { 'content-type': 'application/json' }).end('{}');
        return one;
      },
      async () => {
        const {
          asked: [one],
        } = await fill(place, 1, { size: 50_000 });
        const reply = place.replies.at(-1)!;
        reply.writeHead(200, { 'content-type': 'application/json' }).write('{"id":');
        setImmediate(() => reply.destroy());
        return one;
      },
    ];
    for (const fate of [...fates, ...fates.toReversed(), ...fates]) {
      await fate();
      await underWay(place, 0);
    }
    await fill(place, 1, { size: 61_000 });
  });
});

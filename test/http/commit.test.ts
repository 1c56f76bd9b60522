import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  entriesFor,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
  type Script,
} from '../support/upstream.ts';

/** When a stream begins to leave, and what can still be rescued before. */

const DONE = 'data: [DONE]\n\n';
const TARGETS = {
  openai: { provider: '@openai', override_params: { model: 'gpt-x' } },
  claude: { provider: '@claude', override_params: { model: 'claude-haiku-4-5' } },
  gemini: { provider: '@gemini', override_params: { model: 'gemini-2.5-flash' } },
};
type Kind = keyof typeof TARGETS;
const KINDS = Object.keys(TARGETS) as Kind[];
const RESCUE = { provider: '@openai', override_params: { model: 'gpt-rescue' } };

const fallback = (first: Kind, more: object = {}, strategy: object = {}) => ({
  strategy: { mode: 'fallback', ...strategy },
  targets: [TARGETS[first], RESCUE],
  ...more,
});
const FILTER_GOES_ON = { on_errors: ['default', 'content_filter'] };

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let script: Script;
beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => {
    if (request.json.model === 'gpt-rescue')
      return request.json.stream ? sse(res, RESCUED) : json(res, openaiReply('Rescued'));
    return script(request, res, index);
  });
  const perKind = KINDS.flatMap((kind) => [
    [`only-${kind}`, TARGETS[kind]],
    [`complete-${kind}`, { ...TARGETS[kind], commit: 'complete' }],
    [`rescued-${kind}`, fallback(kind, { commit: 'complete' })],
    [`filter-${kind}`, fallback(kind, {}, FILTER_GOES_ON)],
    [`first-${kind}`, fallback(kind)],
    // Pings are signs of life: only the total time ends a stream of them.
    [`brief-complete-${kind}`, { ...TARGETS[kind], commit: 'complete', timeouts: { total: '500ms' } }],
    [`brief-rescued-${kind}`, fallback(kind, { commit: 'complete', timeouts: { total: '500ms' } })],
    [`brief-first-${kind}`, fallback(kind, { timeouts: { total: '3s' } })],
  ]);
  gateway = await startTestGateway({
    server: {
      listen: { host: '127.0.0.1', port: 0 },
      status: { host: '127.0.0.1', port: 0 },
      admin: { port: 0 },
      limits: { hold_time: '50ms', commit_bytes: '64KiB', commit_time: '600ms' },
      timeouts: { first_content: '300ms', idle: '250ms' },
    },
    catalog: { providers: entriesFor(upstream.url) },
    gateway: {
      ...Object.fromEntries(perKind),
      patient: fallback('openai', { commit: 'complete', timeouts: { first_content: '900ms' } }),
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => {
  script = () => {};
});

function post(config: string, body: object = {}, init: RequestInit = {}, path = '/v1/chat/completions') {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.t',
      'x-gateway-config': config,
    },
    body: JSON.stringify({
      model: 'any',
      stream: true,
      max_tokens: 16,
      messages: [{ role: 'user', content: 'hi' }],
      ...body,
    }),
    ...init,
  });
}

const modelsAsked = (from: number) =>
  upstream.seen.slice(from).map(({ url, json: { model } }) => model ?? (url.includes('/publishers/') ? 'gemini' : url));

const said = (text: string): string =>
  [...text.matchAll(/"(?:content|text)":"([^"]*)"/g)].map(([, word]) => word).join('');

/** A whole stream of each kind, in order; without its last `cut` events it is incomplete. */
const STREAMS: Record<Kind, (string | object)[]> = {
  openai: [openaiChunk({ content: 'Hel' }), openaiChunk({ content: 'lo' }), openaiChunk({}, 'stop'), DONE],
  claude: anthropicEvents('Hel', 'lo'),
  gemini: [geminiPart('Hel'), geminiPart('lo'), geminiReply('!')],
};
const OPENINGS: Record<Kind, (string | object)[]> = {
  openai: STREAMS.openai.slice(0, 2),
  claude: STREAMS.claude.slice(0, 4),
  gemini: STREAMS.gemini.slice(0, 2),
};
const ERRORS: Record<Kind, object> = {
  openai: { error: { message: 'busy', type: 'server_error', code: null } },
  claude: { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
  gemini: { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } },
};
const RESCUED = [openaiChunk({ content: 'Rescued' }), openaiChunk({}, 'stop'), DONE];

function geminiPart(text: string): object {
  const { candidates, ...rest } = geminiReply(text);
  return { ...rest, candidates: candidates.map(({ finishReason: _, ...candidate }) => candidate) };
}

const pinging: Script = async (_, res) => {
  await sse(res, [], false);
  const timer = setInterval(() => res.write(': ping\n\n'), 20);
  res.on('close', () => clearInterval(timer));
};

/** What breaks a stream that has shown some of its answer. */
const FAULTS: Record<string, (kind: Kind) => Script> = {
  'is reset': (kind) => (_, res) => sse(res, [...OPENINGS[kind], null]),
  'is cut inside an event': (kind) => (_, res) => sse(res, [...OPENINGS[kind], 'data: {"half":']),
  stalls: (kind) => (_, res) => sse(res, OPENINGS[kind], false),
  'only pings': (kind) => async (_, res) => {
    await sse(res, OPENINGS[kind], false);
    const timer = setInterval(() => res.write(': ping\n\n'), 20);
    res.on('close', () => clearInterval(timer));
  },
  'tells of an error': (kind) => (_, res) => sse(res, [...OPENINGS[kind], ERRORS[kind]]),
  'is garbled': (kind) => (_, res) =>
    sse(res, [...OPENINGS[kind], 'event: content_block_delta\ndata: {"candidates":[\n\n', ...STREAMS[kind].slice(-2)]),
  'just ends': (kind) => (_, res) => sse(res, OPENINGS[kind]),
};

describe.each(KINDS)('a stream of %s', (kind) => {
  describe.each(Object.keys(FAULTS))('that %s', (fault) => {
    const brief = fault === 'only pings' ? 'brief-' : '';

    it('is rescued by another target where it is held to its end', async () => {
      const seen = upstream.seen.length;
      script = FAULTS[fault]!(kind);
      const answer = await post(`${brief}rescued-${kind}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      expect(said(await answer.text())).toBe('Rescued');
      expect(modelsAsked(seen)).toHaveLength(2);
    });

    it('and is held to its end without another target, is an error of its own status', async () => {
      script = FAULTS[fault]!(kind);
      const answer = await post(`${brief}complete-${kind}`);
      expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(await answer.json()).toMatchObject({ error: { type: 'server_error' } });
    });

    it.each([
      ['/v1/chat/completions', /^data: \{"error":/gm],
      ['/v1/messages', /^event: error\ndata: /gm],
    ])('tells its client of %s once, at its end, where it has begun to leave', async (path, isError) => {
      script = FAULTS[fault]!(kind);
      const answer = await post(`${brief}first-${kind}`, {}, {}, path);
      const text = await answer.text();
      expect(answer.status).toBe(200);
      expect(said(text.slice(0, text.search(isError)))).toBe('Hello');
      expect(text.match(isError)).toHaveLength(1);
      const last = text.slice(text.search(isError));
      expect(last).toMatch(/\n\n$/);
      expect(last.trimEnd()).not.toContain('\n\n');
    });
  });

  it('that is whole leaves as it would have, all at once', async () => {
    const [begun, end] = [gate(), gate()];
    script = (_, res) => sse(res, STREAMS[kind]);
    const expected = await (await post(`only-${kind}`)).text();
    script = async (_, res) => {
      await sse(res, OPENINGS[kind], false);
      begun.open();
      await end.opened;
      await goOn(res, STREAMS[kind].slice(OPENINGS[kind].length));
    };
    let answered = false;
    const held = post(`complete-${kind}`).then((answer) => {
      answered = true;
      return answer;
    });
    await begun.opened;
    // A whole other request takes longer than the bytes that are on their way.
    script = (_, res) => sse(res, STREAMS[kind]);
    await (await post(`only-${kind}`)).text();
    expect(answered).toBe(false);
    end.open();
    expect(stable(await (await held).text())).toBe(stable(expected));
  });
});

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Goes on with a stream that `sse` has begun. */
async function goOn(res: Parameters<Script>[1], events: readonly (object | string)[]): Promise<void> {
  for (const event of events) {
    const name = typeof event === 'object' && 'type' in event ? `event: ${String(event.type)}\n` : '';
    res.write(typeof event === 'string' ? event : `${name}data: ${JSON.stringify(event)}\n\n`);
    await new Promise(setImmediate);
  }
  res.end();
}

/** Ids and times are of the request. */
const stable = (text: string): string => text.replaceAll(/"(?:id|created)":(?:"[^"]*"|\d+)/g, '');

describe('the hold of a stream that should leave complete', () => {
  it('ends when it is longer than `limits.commit_bytes`: a later failure is an event of the stream', async () => {
    const seen = upstream.seen.length;
    script = (_, res) =>
      sse(res, [...Array.from({ length: 20 }, () => openaiChunk({ content: 'x'.repeat(8192) })), null]);
    const text = await (await post('rescued-openai')).text();
    expect(text).toMatch(/data: \{"error":.*"code":"stream_interrupted".*\n\n$/);
    expect(text).not.toContain('Rescued');
    expect(upstream.seen).toHaveLength(seen + 1);
  });

  it('ends after `limits.commit_time`, while the upstream goes on', async () => {
    const state = { left: false };
    script = async (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      while (!state.left && !res.destroyed) {
        res.write(`data: ${JSON.stringify(openaiChunk({ content: 'x' }))}\n\n`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await goOn(res, STREAMS.openai);
    };
    const answer = await post('complete-openai');
    state.left = true;
    expect(answer.status).toBe(200);
    expect(said(await answer.text())).toMatch(/^x+Hello$/);
  });

  it('ends with its client, and then so does the upstream', async () => {
    const begun = gate();
    script = async (_, res) => {
      await sse(res, OPENINGS.openai, false);
      begun.open();
    };
    const leaving = new AbortController();
    const held = post('complete-openai', {}, { signal: leaving.signal }).catch(() => undefined);
    await begun.opened;
    leaving.abort();
    await held;
    await until(() => upstream.seen.at(-1)!.aborted, 'the upstream was let go');
  });

  it('does not end before its content, where another target would be asked', async () => {
    const seen = upstream.seen.length;
    script = pinging;
    expect(said(await (await post('patient')).text())).toBe('Rescued');
    expect(upstream.seen).toHaveLength(seen + 2);
  });
});

describe('an upstream that says nothing but pings', () => {
  beforeEach(() => {
    script = pinging;
  });

  it('is left for the next target at `timeouts.first_content`, long after `limits.hold_time`', async () => {
    const answer = await post('first-openai');
    expect([answer.status, said(await answer.text())]).toEqual([200, 'Rescued']);
  });

  it('without another target, sends the client its headers at `limits.hold_time` and an error later', async () => {
    const answer = await post('only-openai');
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/data: \{"error":.*"code":"timeout_first_content".*\n\n$/);
  });
});

describe('a reply that is nothing but a filter’s stop', () => {
  const blocked: Record<Kind, { stream: (string | object)[]; plain: object }> = {
    openai: {
      stream: [openaiChunk({ role: 'assistant', content: '' }), openaiChunk({}, 'content_filter'), DONE],
      plain: openaiReply('', {
        choices: [{ index: 0, message: { role: 'assistant', content: null }, finish_reason: 'content_filter' }],
      }),
    },
    claude: {
      stream: [
        anthropicEvents()[0]!,
        { type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ],
      plain: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'c',
        content: [],
        stop_reason: 'refusal',
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    },
    gemini: {
      stream: [{ promptFeedback: { blockReason: 'SAFETY' }, modelVersion: 'g' }],
      plain: { promptFeedback: { blockReason: 'SAFETY' }, modelVersion: 'g' },
    },
  };

  it.each(
    KINDS.flatMap(
      (kind) =>
        [
          [kind, true],
          [kind, false],
        ] as const,
    ),
  )(
    'of %s (stream: %s) goes to the next target where the config says so, and to the client where it does not',
    async (kind, stream) => {
      const { stream: events, plain } = blocked[kind];
      script = (_, res) => (stream ? sse(res, events) : json(res, plain));
      const seen = upstream.seen.length;
      const went = await post(`filter-${kind}`, { stream });
      expect([went.status, said(await went.text())]).toEqual([200, 'Rescued']);
      expect(modelsAsked(seen).slice(1)).toEqual(['gpt-rescue']);
      for (const config of [`first-${kind}`, `only-${kind}`]) {
        const asked = upstream.seen.length;
        const answer = await post(config, { stream });
        expect(answer.status).toBe(200);
        expect(await answer.text()).toContain('"finish_reason":"content_filter"');
        expect(upstream.seen).toHaveLength(asked + 1);
      }
    },
  );
});

describe('replies that are held while memory is short', () => {
  const limits = { body: '32KiB', in_flight_bytes: '64KiB', commit_bytes: '10MiB' };
  let small: TestGateway;
  beforeAll(async () => {
    small = await startTestGateway({
      server: { limits },
      catalog: { providers: entriesFor(upstream.url) },
      gateway: { held: { ...TARGETS.openai, commit: 'complete' } },
    });
  });
  afterAll(() => small.close());
  const ask = (stream: boolean) =>
    fetch(`${small.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'held' },
      body: JSON.stringify({ model: 'any', stream, messages: [{ role: 'user', content: 'hi' }] }),
    });

  it('are not cut: who comes next is refused, until they have left', async () => {
    const end = gate();
    script = async (_, res) => {
      const text = JSON.stringify(openaiReply('x'.repeat(100_000)));
      res.writeHead(200, { 'content-type': 'application/json' }).write(text.slice(0, 90_000));
      await end.opened;
      res.end(text.slice(90_000));
    };
    const held = ask(false);
    await until(() => upstream.seen.at(-1)?.json.model === 'gpt-x', 'the upstream is asked');
    const refused = await refusal();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ error: { code: 'busy' } });
    end.open();
    expect(said(await (await held).text())).toBe('x'.repeat(100_000));
    script = (_, res) => json(res, openaiReply('room again'));
    expect(said(await (await ask(false)).text())).toBe('room again');
  });

  /** The first reply that is a refusal: the others wait for their upstream, and take room too. */
  const refusal = async (): Promise<Response> => {
    for (;;) {
      const later = new Promise<void>((resolve) => setTimeout(resolve, 50));
      const answer = await Promise.race([ask(false), later]);
      if (answer) return answer;
    }
  };

  it('begin to leave early where they only wait to be complete', async () => {
    const end = gate();
    script = async (_, res) => {
      await sse(
        res,
        Array.from({ length: 20 }, () => openaiChunk({ content: 'x'.repeat(5000) })),
        false,
      );
      await end.opened;
      await goOn(res, STREAMS.openai);
    };
    const begun = await ask(true);
    end.open();
    expect([begun.status, said(await begun.text())]).toEqual([200, `${'x'.repeat(100_000)}Hello`]);
  });
});

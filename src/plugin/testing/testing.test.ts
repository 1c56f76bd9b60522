import { describe, expect, it } from 'vitest';
import { Cancellation } from '../cancellation.ts';
import { definePlugin, type Middleware } from '../define.ts';
import { GatewayError } from '../errors.ts';
import {
  createAttempt,
  createExchange,
  createFakeClock,
  createReply,
  createSource,
  readBody,
  runPlugin,
} from './index.ts';

const none = { type: 'object', additionalProperties: false, properties: {} } as const;
const pluginOf = (middleware: Middleware, more: { repeats?: boolean } = {}) =>
  definePlugin({ name: 'it', level: 'request', options: none, create: () => middleware, ...more });

describe('the fake clock', () => {
  it('stands still until it is advanced, then runs due timers in order', async () => {
    const clock = createFakeClock();
    const ran: string[] = [];
    clock.after(20, () => ran.push(`b at ${clock.now()}`));
    clock.after(10, () => ran.push(`a at ${clock.now()}`));
    expect(clock.pending).toEqual([10, 20]);
    await clock.advance(15);
    expect(ran).toEqual(['a at 10']);
    await clock.advance(15);
    expect([ran, clock.now()]).toEqual([['a at 10', 'b at 20'], 30]);
  });

  it('runs a timer that another timer starts, when it falls due within the same advance', async () => {
    const clock = createFakeClock();
    const slept = (async () => {
      await clock.sleep(10);
      await clock.sleep(10);
      return clock.now();
    })();
    await clock.advance(25);
    expect(await slept).toBe(20);
  });

  it('forgets a cancelled timer and a cancelled sleep', async () => {
    const clock = createFakeClock();
    const cancellation = new Cancellation();
    const reason = new GatewayError('client_closed', 'gone');
    clock.after(10, () => expect.unreachable())();
    const sleep = clock.sleep(10, cancellation);
    cancellation.cancel(reason);
    await expect(sleep).rejects.toBe(reason);
    await clock.advance(20);
    expect(clock.pending).toEqual([]);
  });

  it('moves wall time along', async () => {
    const clock = createFakeClock(1000);
    await clock.advance(5);
    expect(clock.wall()).toBe(1005);
  });
});

describe('createAttempt', () => {
  it.each([
    ['its own time is over', {}, 700],
    ['the request’s deadline, where that is sooner', { deadline: 500 }, 500],
  ])('makes an attempt that must have ended when %s', (_, exchange, deadline) => {
    const timeouts = { connect: 1, firstByte: 1, firstContent: 1, idle: 1, total: 600 };
    expect(createAttempt(createExchange(exchange), { startedAt: 100, timeouts })).toMatchObject({ deadline });
  });

  it('makes an attempt whose failures do not fall through by default', () => {
    const { choice } = createAttempt(createExchange());
    expect(choice.fallsThrough(new GatewayError('overloaded', 'busy'))).toBe(false);
  });
});

describe('runPlugin', () => {
  it('gives the plugin Koa’s context, with status, body and headers that work', async () => {
    const { ctx } = await runPlugin(
      pluginOf(async (context) => {
        context.set('x-team', context.exchange.caller?.keyId ?? '');
        context.status = 418;
        context.body = { short: true };
      }),
    );
    expect([ctx.status, ctx.body, ctx.response.get('x-team'), ctx.type]).toEqual([
      418,
      { short: true },
      'test',
      'application/json',
    ]);
  });

  it('gives the plugin a body that is frozen, as the gateway does', async () => {
    const exchange = createExchange({ json: { messages: [{ content: 'secret' }] } });
    const mask = pluginOf(async ({ exchange: { request } }) => {
      const [first] = request.body!.value('messages') as [{ content: string }];
      first.content = 'masked';
    });
    await expect(runPlugin(mask, { exchange })).rejects.toThrow('read only property');
  });

  it.each<[string, Middleware, { repeats?: boolean }, string]>([
    [
      'next() twice',
      async (_, next) => {
        await next();
        await next();
      },
      {},
      'plugin "it" called next() twice without declaring repeats',
    ],
    ['a forgotten await', async (_, next) => void next(), {}, 'plugin "it" did not await next()'],
    [
      'a forgotten await of the second',
      async (_, next) => {
        await next();
        void next();
      },
      { repeats: true },
      'plugin "it" did not await next()',
    ],
  ])('refuses %s', async (_, middleware, more, message) => {
    await expect(runPlugin(pluginOf(middleware, more))).rejects.toThrow(message);
  });

  it('allows next() again where the plugin declares repeats, also after a failure', async () => {
    let failures = 1;
    const again: Middleware = async (_, next) => {
      try {
        await next();
      } catch {
        await next();
      }
    };
    const run = runPlugin(pluginOf(again, { repeats: true }), {
      next() {
        if (failures-- > 0) throw new Error('not yet');
      },
    });
    expect((await run).nextCalls).toBe(2);
  });

  it('refuses options the schema refuses, and a host without what the plugin needs', async () => {
    await expect(
      runPlugin(
        pluginOf(async () => {}),
        { options: { hue: 1 } },
      ),
    ).rejects.toThrow('the options of "it": unknown key `hue`');
    const needy = definePlugin({
      name: 'needy',
      level: 'request',
      options: none,
      needs: ['keys'],
      create: () => async () => {},
    });
    await expect(runPlugin(needy)).rejects.toThrow('plugin "needy" needs "keys"');
  });

  it('returns the plugin’s description of the run, undefined without one', async () => {
    const plugin = definePlugin({
      name: 'it',
      level: 'attempt',
      options: { type: 'object', properties: { hue: { type: 'string' } } },
      explain: ({ attempt, exchange }, { hue }) => ({ does: `${exchange.id} ${attempt.number} ${hue}` }),
      create: () => async () => {},
    });
    const run = await runPlugin(plugin, { exchange: createExchange({ id: 'r' }), options: { hue: 'red' } });
    expect(run.explain()).toEqual({ does: 'r 0 red' });
    expect((await runPlugin(pluginOf(async () => {}))).explain()).toBeUndefined();
  });

  it('keeps the plugin’s log lines and runs its close tasks in reverse order', async () => {
    const steps: string[] = [];
    const plugin = definePlugin({
      name: 'it',
      level: 'request',
      options: none,
      create({ host }) {
        host.onClose(() => void steps.push('first'));
        host.onClose(async () => void steps.push('second'));
        return async (ctx) => host.log.warn({ id: ctx.exchange.id }, 'seen');
      },
    });
    const { log, close } = await runPlugin(plugin, { exchange: createExchange({ id: 'r' }) });
    await close();
    expect([log, steps]).toMatchObject([[{ level: 40, id: 'r', msg: 'seen' }], ['second', 'first']]);
  });
});

describe('the exchange of a test', () => {
  it('cancels a reply that is replaced, but not one whose body is wrapped', () => {
    const [first, second] = [createSource(), createSource()];
    const exchange = createExchange({ reply: createReply(first) });
    exchange.reply!.body = second;
    expect([first.calls, second.calls]).toEqual([[], []]);
    exchange.reply = createReply('{}');
    expect([first.calls, second.calls]).toEqual([[], ['cancel']]);
  });

  it('calls the end listeners once', () => {
    const exchange = createExchange();
    const ends: unknown[] = [];
    exchange.onEnd((end) => ends.push(end));
    exchange.end({ state: 'aborted', status: 499 });
    exchange.end();
    expect(ends).toEqual([{ state: 'aborted', status: 499, bytes: 0, error: undefined }]);
  });

  it('reads a body to its end, or to its failure', async () => {
    const source = createSource();
    const text = readBody(source);
    source.push('a');
    source.push('b');
    source.end();
    expect(await text).toBe('ab');
    const broken = createSource();
    const failing = readBody(broken);
    broken.fail(new GatewayError('stream_interrupted', 'cut'));
    await expect(failing).rejects.toMatchObject({ code: 'stream_interrupted' });
  });
});

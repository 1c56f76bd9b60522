import { expect } from 'vitest';
import type { Attempt, Clock, Exchange, HealthDirectory } from '../../src/plugin/index.ts';
import { diskFiles, type SettingsFiles } from '../../src/settings/files.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { CannotExplain, Explainer } from '../../src/server/explain/explainer.ts';
import { freezeHealth, type FrozenHealth } from '../../src/server/explain/frozen-health.ts';
import type { Observation } from '../../src/server/explain/observation.ts';
import type { Watch } from '../../src/server/workshop.ts';
import { logTally, Tally } from './agreement-tally.ts';

/** One request as it was served: what explain is asked with, and what it should say. */
interface Served {
  readonly exchange: Exchange;
  readonly pathAndQuery: string;
  readonly body: Buffer;
  readonly wall: number;
  health: FrozenHealth;
  readonly attempts: Map<Attempt, SentAttempt>;
}

interface SentAttempt {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly calls: readonly string[];
  /** What ends it. */
  readonly bound: 'total' | 'request';
  readonly timeouts: object;
}

export interface AgreementSetup {
  readonly configs: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files?: SettingsFiles | undefined;
  readonly clock: Clock;
}

/**
 * Asks explain about every request that a gateway of a test has served, with the same clock, id, draws and health, and with the
 * failures that its attempts met; whatever explain says otherwise fails the test.
 */
export class Agreement {
  readonly tally = new Tally();
  readonly #setup: AgreementSetup;
  readonly #served: Served[] = [];
  readonly #byExchange = new WeakMap<Exchange, Served>();
  #health: HealthDirectory | undefined;
  #impure = false;

  constructor(setup: AgreementSetup) {
    this.#setup = setup;
  }

  readonly watch: Watch = {
    instantiate: (place, create) => {
      const wrap = async () => {
        const middleware = await create();
        const { name } = place.plugin;
        if (!place.builtin && !place.plugin.pure) this.#impure = true;
        if (!place.builtin || !['config', 'route', 'send'].includes(name)) return middleware;
        return async (...[ctx, next]: Parameters<typeof middleware>) => {
          if (name === 'config') this.#begin(ctx.exchange, ctx.req.url ?? '/');
          else if (ctx.attempt) this.#send(ctx.exchange, ctx.attempt);
          else this.#route(ctx.exchange);
          await middleware(ctx, next);
        };
      };
      return wrap();
    },
    grant: (granted) => {
      this.#health = granted.health ?? this.#health;
      return granted;
    },
  };

  /** Compares all that was served; the gateway has come to rest. */
  async check(): Promise<void> {
    if (this.#served.length === 0) return;
    const from = performance.now();
    try {
      if (this.#impure) this.tally.leave('a plugin that explain does not run', this.#served.length);
      else await this.#compareAll();
    } finally {
      this.tally.ms = performance.now() - from;
      logTally(this.tally);
    }
  }

  async #compareAll(): Promise<void> {
    const { configs, env, clock, files = diskFiles } = this.#setup;
    const explainer = new Explainer({ configs, env, files, clock, log: createLogger({ level: 'silent' }) });
    try {
      for (const served of this.#served) await compare(served, explainer, this.tally);
    } catch (error) {
      // A test may leave settings behind that are refused.
      if (!(error instanceof CannotExplain)) throw error;
      this.tally.leave('settings that are refused', this.#served.length - this.tally.compared);
    } finally {
      await explainer.close();
    }
  }

  #begin(exchange: Exchange, pathAndQuery: string): void {
    const { clock } = this.#setup;
    exchange.draws ??= [];
    const served: Served = {
      exchange,
      pathAndQuery,
      body: exchange.request.body?.original ?? Buffer.alloc(0),
      wall: clock.wall() - clock.now() + exchange.startedAt,
      health: new Map(),
      attempts: new Map(),
    };
    this.#byExchange.set(exchange, served);
    this.#served.push(served);
  }

  #send(exchange: Exchange, attempt: Attempt): void {
    const { outbound } = attempt;
    if (!outbound) return;
    const { origin, path, headers, body, batch } = outbound;
    this.#byExchange.get(exchange)?.attempts.set(attempt, {
      method: 'POST',
      url: origin + path,
      headers,
      body: body.toString(),
      calls: (batch?.bodies ?? [body]).map(String),
      bound: boundOf(exchange, attempt),
      timeouts: attempt.timeouts,
    });
  }

  #route(exchange: Exchange): void {
    const served = this.#byExchange.get(exchange);
    const health = this.#health;
    if (served && health && exchange.config)
      served.health = freezeHealth(exchange.config, (config, target) => health.of(config, target));
  }
}

async function compare(served: Served, explainer: Explainer, tally: Tally): Promise<void> {
  const { exchange, attempts } = served;
  const reason = notComparable(served);
  if (reason !== undefined) return tally.leave(reason);
  const observation = await explainer.observe({
    method: exchange.request.method,
    path: served.pathAndQuery,
    headers: headersOf(exchange),
    body: served.body,
    remoteAddress: exchange.request.remoteAddress,
    id: exchange.id,
    draws: exchange.draws,
    at: { now: exchange.startedAt, wall: served.wall },
    health: served.health,
    failures: exchange.attempts.map(({ error }) => error),
  });
  if (observation.settings.hash !== exchange.settingsHash) return tally.leave('settings that have changed since');
  expect(told(observation, exchange.attempts.length, exchange)).toEqual(said(exchange, attempts));
  tally.compared += 1;
  tally.attempts += attempts.size;
}

/** Undefined: it must agree. */
function notComparable({ exchange }: Served): string | undefined {
  const { attempts, error, cancellation } = exchange;
  if (cancellation.reason) return 'a client that left';
  const codes = [error, ...attempts.map((attempt) => attempt.error)].map((one) => one?.code);
  if (codes.includes('timeout_request')) return 'a deadline that passed';
  if (codes.includes('shutting_down') || codes.includes('busy')) return 'a gateway that was full or stopping';
  if (attempts.some(({ target }) => target.remoteMedia)) return 'media that are fetched';
  return undefined;
}

const headersOf = ({ request }: Exchange): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  );

function common(exchange: Exchange, attempts: number) {
  const { caller, config, strict, strictParams, metadata, labels, conditions, skipped, operation } = exchange;
  return {
    operation: operation?.id,
    key: caller?.keyId,
    config: config && [config.id, config.hash],
    strict,
    strictParams,
    metadata: { ...metadata },
    labels: { ...labels },
    deadlineMs: Math.round(exchange.deadline - exchange.startedAt),
    conditions,
    skipped: skipped.flatMap(({ target, reason, after }) => (after < attempts ? [[target.path, reason, after]] : [])),
  };
}

const boundOf = ({ deadline }: Exchange, attempt: Attempt): SentAttempt['bound'] =>
  attempt.deadline < deadline ? 'total' : 'request';

const about = ({ target, choice, cache }: Attempt) => ({
  target: target.path,
  why: choice.reason,
  cached: cache !== undefined,
});

/** Which attempt asked nobody because somebody else's answer was there. */
const wasAnswered = ({ cache }: Attempt): boolean => cache === 'hit' || cache === 'shared';

/** By the gateway itself, for want of a credential: written, and not sent. */
const wasRefusedHere = ({ error }: Attempt): boolean => error?.code === 'upstream_credentials_required';

function said(exchange: Exchange, sent: Served['attempts']) {
  return {
    ...common(exchange, exchange.attempts.length),
    ...(exchange.attempts.length === 0 && { error: exchange.error?.code }),
    attempts: exchange.attempts.map((attempt) => {
      const outbound = sent.get(attempt);
      const told = { ...about(attempt), losses: attempt.losses };
      if (wasAnswered(attempt)) return about(attempt);
      if (!outbound || wasRefusedHere(attempt)) return { ...told, refused: attempt.error?.code };
      return { ...told, ...outbound };
    }),
  };
}

function told({ exchange, attempts: all }: Observation, count: number, served: Exchange) {
  const attempts = all.slice(0, count);
  return {
    ...common(exchange, count),
    ...(count === 0 && { error: exchange.error?.code }),
    attempts: attempts.map(({ attempt, outbound, supposed }, index) => {
      const mine = { ...about(attempt), losses: attempt.losses };
      if (wasAnswered(served.attempts[index]!)) return about(attempt);
      if (!outbound || !supposed) return { ...mine, refused: attempt.error?.code };
      return {
        ...mine,
        method: 'POST',
        url: outbound.origin + outbound.path,
        headers: outbound.headers,
        body: outbound.body.toString(),
        calls: (outbound.batch?.bodies ?? [outbound.body]).map(String),
        bound: boundOf(exchange, attempt),
        timeouts: attempt.timeouts,
      };
    }),
  };
}

import { dryParts } from '../../src/core/process/add-on-parts.ts';
import { builtinPlugins } from '../../plugins/index.ts';
import { ModelLabels } from '../../src/core/catalog/model-labels.ts';
import { PluginRegistry } from '../../src/core/http/chain/registry.ts';
import { compileSnapshot, type Snapshot } from '../../src/core/compose/snapshot.ts';
import { NO_RECORDER, NO_UPSTREAM } from '../../src/core/dry-run/fakes.ts';
import { inboundContext, routed } from '../../src/addons/explain/explain/inbound.ts';
import { ANYBODY } from '../../src/core/dry-run/supposed-caller.ts';
import { InFlight } from '../../src/core/http/gateway/admission/in-flight.ts';
import { HttpExchange } from '../../src/core/http/gateway/exchange.ts';
import { ignorePluginFaults } from '../../src/core/http/gateway/plugin-faults.ts';
import { definePlugin } from '../../src/core/kernel/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { createLogger } from '../../src/core/record/log/logger.ts';
import type { LoadResult } from '../../src/core/settings/read/load.ts';
import { MemoryReplyStores } from '../../src/core/memory/reply-cache.ts';
import { MemoryHealthStore } from '../../src/core/memory/target-health.ts';
import { MemoryTokenStore } from '../../src/core/memory/tokens.ts';
import type { OutboundRequest, SmallReply, SmallRequest, Upstream } from '../../src/core/upstream/types.ts';
import { canary } from './canaries.ts';

export interface ClientRequest {
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** A request as it leaves for an upstream. */
export type SentRequest = Pick<OutboundRequest, 'origin' | 'path' | 'headers' | 'body'>;

export interface RunningSettings {
  /** The upstream requests that this request causes. */
  send(request: ClientRequest): Promise<readonly SentRequest[]>;
  close(): Promise<void>;
}

/**
 * Compiles settings as a start does, with the built-in plugins. Every upstream answers 401 first, so that entries with tokens fetch a
 * fresh one, and 503 afterwards. Undefined where the settings have mistakes.
 */
export async function startSettings(loaded: LoadResult): Promise<RunningSettings | undefined> {
  const clock = systemClock;
  const inFlight = new InFlight();
  let sent: SentRequest[] = [];
  const refused = new Set<string>();
  const upstream: Upstream = {
    ...NO_UPSTREAM,
    send(request, timings) {
      sent.push(request);
      const { url } = request.origin;
      const status = refused.has(url) ? 503 : 401;
      refused.add(url);
      return Promise.resolve({ ok: false, status, headers: {}, text: '{}', timings: timings! });
    },
    exchange: (request) => Promise.resolve(issueToken(request)),
  };
  const snapshot = await compileSnapshot(loaded, {
    clock,
    env: {},
    log: createLogger({ level: 'silent' }),
    random: () => 0,
    upstream,
    tokens: new MemoryTokenStore(clock),
    replies: new MemoryReplyStores({ clock }),
    parts: dryParts(clock),
    health: new MemoryHealthStore({ clock }),
    inFlight,
    tokenFetched() {},
    recorder: NO_RECORDER,
    labels: new ModelLabels(),
    pluginFault: ignorePluginFaults,
    registry: new PluginRegistry([...builtinPlugins, everybody]),
  });
  if (!snapshot) return undefined;
  return {
    async send(request) {
      sent = [];
      refused.clear();
      await serve(request, snapshot, inFlight);
      return sent;
    },
    close: () => snapshot.close(),
  };
}

async function serve({ path, headers, body }: ClientRequest, snapshot: Snapshot, inFlight: InFlight): Promise<void> {
  const ctx = inboundContext({ method: 'POST', path, headers, body: Buffer.from(JSON.stringify(body)) });
  const { operation, params, format, refusal } = routed(ctx);
  const exchange = new HttpExchange(ctx.req, {
    operation,
    clientFormat: format,
    params,
    snapshot,
    clock: systemClock,
  });
  exchange.error = refusal;
  inFlight.enter({ exchange, res: ctx.res, refused: false, settle() {} });
  try {
    await snapshot.entry(Object.assign(ctx, { exchange, attempt: undefined }));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  } finally {
    inFlight.leave(exchange);
  }
}

const everybody = definePlugin({
  name: 'everybody',
  level: 'entry',
  options: { type: 'object', additionalProperties: false, properties: {} },
  provides: ['caller'],
  create:
    () =>
    ({ exchange }, next) => {
      exchange.caller = ANYBODY;
      return next();
    },
});

/** Google's token endpoint. The token names the account that signed the assertion. */
function issueToken({ body = '' }: SmallRequest): SmallReply {
  const [, claims = ''] = (new URLSearchParams(body).get('assertion') ?? '').split('.');
  const { iss = '' } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iss?: string };
  const token = canary(iss.slice(0, iss.indexOf('@')), 'token');
  return { status: 200, headers: {}, text: JSON.stringify({ access_token: token, expires_in: 3600 }) };
}

import { Secret, type Clock, type Exchange, type GatewayConfig } from '../../plugin/index.ts';
import { mayHoldCredential } from '../../settings/checks/forward-headers.ts';
import type { ServerSettings } from '../../settings/compile/server-settings.ts';
import type { HealthStore } from '../../state/memory/target-health.ts';
import type { OnConfig } from '../../compose/config-directory.ts';
import { uuidv7 } from '../../plugin/ids.ts';
import { credentialsIn, FAKE_CREDENTIAL } from './credentials.ts';
import { freezeHealth } from './frozen-health.ts';
import type { KeptRequests } from './kept-requests.ts';
import type { ExplainQuestion } from './question.ts';
import type { SettingsExplainer } from './settings-explainer.ts';

export interface KeeperSetup {
  readonly explainer: SettingsExplainer;
  readonly kept: KeptRequests;
  readonly health: Pick<HealthStore, 'peek'>;
  readonly clock: Clock;
}

const MAX_BODY_BYTES = 1024 * 1024;
const NO_BODY = Buffer.alloc(0);

/** Keeps what explains a request, where its config or the server wants that; undefined where nobody can. */
export function createKeeper(setup: KeeperSetup, { admin }: Pick<ServerSettings, 'admin'>): OnConfig | undefined {
  if (!admin.enabled || admin.explain === 'none') return undefined;
  const all = admin.explain === 'all';
  return (config, ctx) => {
    if (all || config.replyHeaders.has('explain_id')) keep(setup, config, ctx.exchange);
  };
}

function keep({ kept, explainer, health, clock }: KeeperSetup, config: GatewayConfig, exchange: Exchange): void {
  const body = exchange.request.body?.original ?? NO_BODY;
  if (!kept.open || body.length > MAX_BODY_BYTES) return;
  const id = uuidv7(clock.wall());
  exchange.explainId = id;
  // `route` writes its draws into it.
  exchange.draws = [];
  const credentials = credentialsIn(exchange.request.headers);
  const question: ExplainQuestion = {
    method: exchange.request.method,
    // Without its query, where some clients have their key; who is asked about a config has nothing in it that counts.
    path: exchange.request.path,
    headers: headersOf(exchange, credentials),
    // Only what the body has, and so is here anyway.
    secrets: credentials.filter((text) => body.includes(text)).map((text) => new Secret(text)),
    body: ownBytes(body),
    as: exchange.caller,
    remoteAddress: exchange.request.remoteAddress,
    id: exchange.id,
    draws: exchange.draws,
    at: { now: clock.now(), wall: clock.wall() },
    health: freezeHealth(config, (own, target) => health.peek(own, target, exchange)),
  };
  kept.add(id, { question, explainer });
}

/** A small body may be a piece of the 64 KiB that node:http has read at once. */
const ownBytes = (body: Buffer): Buffer => (body.length * 2 < body.buffer.byteLength ? Buffer.from(body) : body);

/** Without credentials, wherever they stand; that the caller brought its own for the upstream is to be seen. */
function headersOf(
  { request: { headers }, upstreamToken }: Exchange,
  credentials: readonly string[],
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    // Explained bodies are all there: nobody waits to hear that they are wanted.
    if (value === undefined || name === 'expect' || mayHoldCredential(name)) continue;
    let text = [value].flat().join(', ');
    for (const credential of credentials) text = text.replaceAll(credential, '[secret]');
    kept[name] = text;
  }
  if (upstreamToken) kept['authorization'] = `Bearer ${FAKE_CREDENTIAL}`;
  return kept;
}

import type { ExplainQuestion } from './question.ts';
import type { SettingsExplainer } from './settings-explainer.ts';
import { Secret, type Clock } from '../../../plugin/index.ts';
import type { Exchange, GatewayConfig } from '../../../core/kernel/index.ts';
import { mayHoldCredential } from '../../../core/settings/values/credential-names.ts';
import type { ServerSettings } from '../../../core/settings/compile/server-settings.ts';
import type { HealthStore } from '../../../core/memory/ports.ts';
import type { OnConfig } from '../../../core/compose/config-directory.ts';
import { uuidv7 } from '../../../core/kernel/ids.ts';
import { SECRET } from '../../../core/dry-run/calls.ts';
import { freezeHealth } from './frozen.ts';
import { credentialsIn, FAKE_CREDENTIAL } from './describe/masks.ts';

/** A request as it was when its config was chosen, with the explainer of its settings. */
interface KeptRequest {
  readonly question: ExplainQuestion;
  readonly explainer: Pick<SettingsExplainer, 'hold' | 'release' | 'explain'>;
}

interface SizedRequest extends KeptRequest {
  readonly bytes: number;
}

interface KeptLimits {
  readonly requests: number;
  readonly bytes: number;
}

const LIMITS: KeptLimits = { requests: 100, bytes: 16 * 1024 * 1024 };
/** Memory of a stored request besides its texts. */
const OVERHEAD_BYTES = 2048;

/** The latest requests that can be explained, bounded in number and bytes; the oldest are dropped first. */
export class KeptRequests {
  readonly #limits: KeptLimits;
  readonly #kept = new Map<string, SizedRequest>();
  #bytes = 0;
  #open = true;

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the current settings allow storing requests. Requests that began with older settings may still arrive. */
  get open(): boolean {
    return this.#open;
  }

  apply(open: boolean): void {
    this.#open = open;
    if (!open) this.clear();
  }

  add(id: string, { question, explainer }: KeptRequest): void {
    const bytes = sizeOf(question);
    if (bytes > this.#limits.bytes) return;
    explainer.hold();
    this.#kept.set(id, { question, explainer, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#kept) {
      if (this.#kept.size <= this.#limits.requests && this.#bytes <= this.#limits.bytes) break;
      this.#drop(oldest, entry);
    }
  }

  readonly find = (id: string): KeptRequest | undefined => this.#kept.get(id);

  clear(): void {
    for (const [id, entry] of this.#kept) this.#drop(id, entry);
  }

  #drop(id: string, { bytes, explainer }: SizedRequest): void {
    this.#kept.delete(id);
    this.#bytes -= bytes;
    explainer.release();
  }
}

function sizeOf({ path, headers, body }: ExplainQuestion): number {
  const texts = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, path.length);
  // As UTF-16, the most memory that V8 uses for them.
  return OVERHEAD_BYTES + 2 * texts + body.length;
}

interface KeepSetup {
  readonly explainer: SettingsExplainer;
  readonly kept: KeptRequests;
  readonly health: Pick<HealthStore, 'peek'>;
  readonly clock: Clock;
}

const MAX_BODY_BYTES = 1024 * 1024;
const NO_BODY = Buffer.alloc(0);

/** Stores the data that explains a request, if its config or the server enables it. */
export function keepForExplain(setup: KeepSetup, { admin }: Pick<ServerSettings, 'admin'>): OnConfig | undefined {
  if (!admin.enabled || admin.explain === 'none') return undefined;
  const all = admin.explain === 'all';
  return (config, ctx) => {
    if (all || config.replyHeaders.has('explain_id')) keep(setup, config, ctx.exchange);
  };
}

function keep({ kept, explainer, health, clock }: KeepSetup, config: GatewayConfig, exchange: Exchange): void {
  const body = exchange.request.body?.original ?? NO_BODY;
  if (!kept.open || body.length > MAX_BODY_BYTES) return;
  const id = uuidv7(clock.wall());
  exchange.explainId = id;
  // `route` records its draws here.
  exchange.draws = [];
  const credentials = credentialsIn(exchange.request.headers);
  const question: ExplainQuestion = {
    method: exchange.request.method,
    path: pathOf(exchange),
    headers: headersOf(exchange, credentials),
    // Only credentials that occur in the body, which is stored anyway.
    secrets: credentials.filter((text) => body.includes(text)).map((text) => new Secret(text)),
    body: ownBytes(body),
    files: exchange.request.form?.files,
    as: exchange.caller,
    remoteAddress: exchange.request.remoteAddress,
    id: exchange.id,
    draws: exchange.draws,
    continues: exchange.kept?.continues,
    // It has passed the limits of its caller.
    limited: null,
    at: { now: clock.now(), wall: clock.wall() },
    health: freezeHealth(config, (own, target) => health.peek(own, target, exchange)),
  };
  kept.add(id, { question, explainer });
}

/** Keeps only the query parameter that chooses the operation: no other operation that chooses a config reads the query. */
function pathOf({ request: { path }, operation }: Exchange): string {
  const { query } = operation ?? {};
  return query ? `${path}?${query.name}=${query.value}` : path;
}

/** Copies a small body, which may be a slice of the 64 KiB that node:http read at once. */
const ownBytes = (body: Buffer): Buffer => (body.length * 2 < body.buffer.byteLength ? Buffer.from(body) : body);

/** A dry run has the whole body, so `expect` does not apply, and has it decoded, so what describes its coded bytes does not. */
const OF_THE_WIRE: ReadonlySet<string> = new Set(['expect', 'content-encoding', 'content-length']);

/** The headers without credentials. A fake one shows that the caller brought its own for the upstream. */
function headersOf(
  { request: { headers }, upstreamToken }: Exchange,
  credentials: readonly string[],
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || OF_THE_WIRE.has(name) || mayHoldCredential(name)) continue;
    let text = [value].flat().join(', ');
    for (const credential of credentials) text = text.replaceAll(credential, SECRET);
    kept[name] = text;
  }
  if (upstreamToken) kept['authorization'] = `Bearer ${FAKE_CREDENTIAL}`;
  return kept;
}

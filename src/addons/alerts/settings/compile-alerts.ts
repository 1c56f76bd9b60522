import type { AlertWebhook, ServerFile } from '../../../../schemas/types.generated.ts';
import { ALERT_KINDS, type AlertKind } from '../../../core/kernel/alert-kinds.ts';
import { signingKey, WRONG_SECRET } from '../../../core/kernel/webhook-signature.ts';
import { parseCap } from '../../../core/tenants/amounts.ts';
import type { Report } from '../../../core/kernel/report.ts';
import type { Secret } from '../../../plugin/index.ts';
import { within, type Check, type CheckedSettings } from '../../../core/settings/checks/check.ts';
import { isLocalHost, offLimits } from '../../../core/settings/checks/hosts.ts';
import { withSuggestion } from '../../../core/settings/checks/names.ts';
import { storeSettings } from '../../../core/settings/source/stored-objects.ts';

export interface WebhookSettings {
  readonly id: string;
  readonly url: Secret;
  readonly secret: Secret;
  readonly kinds: ReadonlySet<AlertKind>;
  /** Undefined: all alerts. */
  readonly nodes: ReadonlySet<string> | undefined;
  readonly allowInsecure: boolean;
}

export interface AnomalyRule {
  /** At least so many times the median of the hours before. */
  readonly factor: number;
  /** At least this much, nano-USD. */
  readonly floor: number;
}

export interface AlertSettings {
  readonly webhooks: readonly WebhookSettings[];
  readonly anomalies: AnomalyRule & { readonly days: number };
  /** Days before the end of a key, ascending. */
  readonly keyExpiry: readonly number[];
}

/** `alerts` of server.yaml with its defaults: the floor in nano-USD, days ascending. Throws RangeError for a floor that is too large. */
export const compileAlerts = ({
  webhooks = [],
  anomalies = {},
  key_expiry,
}: NonNullable<ServerFile['alerts']> = {}): AlertSettings => ({
  webhooks: webhooks.map(compileWebhook),
  anomalies: {
    factor: anomalies.factor ?? 5,
    floor: parseCap(anomalies.floor ?? '10 USD').amount,
    days: anomalies.days ?? 7,
  },
  keyExpiry: (key_expiry ?? [30, 7, 1]).toSorted((a, b) => a - b),
});

export const compileWebhook = ({
  id,
  url,
  secret,
  kinds,
  nodes,
  allow_insecure: insecure,
}: AlertWebhook): WebhookSettings => ({
  id,
  url,
  secret,
  // Who wants to know of a budget that is nearly used up wants to know of one that refuses requests.
  kinds: new Set(kinds?.flatMap((kind) => (kind === 'budget' ? [kind, 'exhausted'] : [kind])) ?? ALERT_KINDS),
  nodes: nodes && new Set(nodes),
  allowInsecure: insecure ?? false,
});

/** Checks that webhooks can be reached and signed for, and that they name nodes that exist. */
export const checkAlerts: Check = (settings) => ({
  server(server, report) {
    const { alerts } = server;
    if (!alerts) return;
    const hasLedger = storeSettings(server) !== undefined;
    const at = within(report, 'alerts');
    for (const [index, webhook] of (alerts.webhooks ?? []).entries()) {
      const own = within(at, 'webhooks', index);
      checkUrl(webhook, within(own, 'url'));
      if (!signingKey(webhook.secret)) own({ path: ['secret'], message: WRONG_SECRET });
      checkNodes(webhook, settings, within(own, 'nodes'));
      if (webhook.kinds?.includes('anomaly') && !hasLedger)
        own({ path: ['kinds'], severity: 'warning', message: NO_LEDGER });
      if ((alerts.webhooks ?? []).findIndex(({ id }) => id === webhook.id) < index)
        own({ path: ['id'], message: `two webhooks have the id \`${webhook.id}\`: give each its own` });
    }
    if (alerts.anomalies?.floor !== undefined) checkFloor(alerts.anomalies.floor, within(at, 'anomalies', 'floor'));
    if (alerts.anomalies && !hasLedger) at({ path: ['anomalies'], on: 'key', severity: 'warning', message: NO_LEDGER });
  },
});

const NO_LEDGER =
  '`anomalies` has no effect: the hours come from the ledger of a state store; add `state`, or remove this';

/** The address itself is in no message: it may hold a secret. */
function checkUrl({ url, allow_insecure: insecure = false }: AlertWebhook, report: Report): void {
  const problem = problemOf(url.reveal(), insecure);
  if (problem !== undefined) report({ path: [], message: `the address of the webhook ${problem}` });
}

function problemOf(text: string, insecure: boolean): string | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'is not a URL such as https://hooks.example.com/alerts';
  if (url.username || url.password) return 'must not contain credentials';
  const refused = offLimits(url.hostname);
  if (refused !== undefined) return `is ${refused}`;
  if (insecure) return undefined;
  if (url.protocol === 'http:') return 'is plain http: use https, or set `allow_insecure: true`';
  return isLocalHost(url.hostname)
    ? 'is a loopback or private address: set `allow_insecure: true` if this is intended'
    : undefined;
}

function checkNodes({ nodes = [] }: AlertWebhook, { teams, keys }: CheckedSettings, report: Report): void {
  if (!teams || !keys) return;
  const known = [
    ...Object.keys(teams.organizations ?? {}).map((id) => `organization:${id}`),
    ...Object.keys(teams.teams ?? {}).map((id) => `team:${id}`),
    ...keys.keys.map(({ id }) => `key:${id}`),
  ];
  const all = new Set(known);
  for (const [index, node] of nodes.entries()) {
    if (all.has(node)) continue;
    const [kind, id] = node.split(/:(.*)/);
    const file = kind === 'key' ? 'keys.yaml' : 'teams.yaml';
    const message = `there is no ${kind} \`${id}\` in ${file}, so this webhook gets no alert of it`;
    report({ path: [index], severity: 'warning', message, ...withSuggestion(node, known) });
  }
}

function checkFloor(floor: string, report: Report): void {
  try {
    parseCap(floor);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    report({ path: [], message: '`floor` must be at most 9000000 USD' });
  }
}

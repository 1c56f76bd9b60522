import type { AlertWebhook, ServerFile } from '../../../../schemas/types.generated.ts';
import { ALERT_KINDS, type AlertKind } from '../../../core/kernel/alert-kinds.ts';
import { parseCap } from '../../../core/tenants/amounts.ts';
import type { AnomalyRule } from './spend-anomaly.ts';
import type { Secret } from '../../../plugin/index.ts';

export interface WebhookSettings {
  readonly id: string;
  readonly url: Secret;
  readonly secret: Secret;
  readonly kinds: ReadonlySet<AlertKind>;
  /** Undefined: all alerts. */
  readonly nodes: ReadonlySet<string> | undefined;
  readonly allowInsecure: boolean;
}

export interface AlertSettings {
  readonly webhooks: readonly WebhookSettings[];
  readonly anomalies: AnomalyRule & { readonly days: number };
  /** Days before the end of a key, ascending. */
  readonly keyExpiry: readonly number[];
}

/** `alerts` of server.yaml with its defaults: the floor in nano-USD, days ascending. Throws RangeError for a floor that is too large. */
export function compileAlerts({
  webhooks = [],
  anomalies = {},
  key_expiry,
}: NonNullable<ServerFile['alerts']> = {}): AlertSettings {
  return {
    webhooks: webhooks.map(compileWebhook),
    anomalies: {
      factor: anomalies.factor ?? 5,
      floor: parseCap(anomalies.floor ?? '10 USD').amount,
      days: anomalies.days ?? 7,
    },
    keyExpiry: (key_expiry ?? [30, 7, 1]).toSorted((a, b) => a - b),
  };
}

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

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const LEAST_BYTES = 24;
const MOST_BYTES = 64;

/** The key of the signatures, as https://www.standardwebhooks.com writes it. Undefined: it is not in that form. */
export function signingKey(secret: Secret): Buffer | undefined {
  const [, text] = SECRET.exec(secret.reveal()) ?? [];
  const key = text === undefined ? undefined : Buffer.from(text, 'base64');
  return key && key.length >= LEAST_BYTES && key.length <= MOST_BYTES ? key : undefined;
}

import { isIP } from 'node:net';
import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import { normaliseAddress } from './networks.ts';

type Demanded = NonNullable<GatewayKey['client_certificate']>;

/**
 * The names that a certificate must have for a key, each with its kind. The form of `subject_alt_name` decides its kind, so that a
 * DNS name of a certificate never passes for a URI with the same text.
 */
export function demandedNames({ subject_alt_name: alternative, common_name: common }: Demanded): readonly string[] {
  return [
    ...(alternative === undefined ? [] : [alternativeName(kindOf(alternative), alternative)]),
    ...(common === undefined ? [] : [`CN:${common}`]),
  ];
}

export type NameKind = 'DNS' | 'URI' | 'email' | 'IP Address';

function kindOf(name: string): NameKind {
  if (isIP(name) !== 0) return 'IP Address';
  if (name.includes(':')) return 'URI';
  return name.includes('@') ? 'email' : 'DNS';
}

/** DNS names ignore case (RFC 4343), and an address has several forms. */
export function alternativeName(kind: NameKind, name: string): string {
  if (kind === 'DNS') return `DNS:${name.toLowerCase()}`;
  return `${kind}:${kind === 'IP Address' ? (normaliseAddress(name) ?? name) : name}`;
}

import { GatewayError } from '../../../plugin/index.ts';
import type { CertificateRules } from '../../kernel/index.ts';
import type { Admit, KeyRecord, KnownKeys } from './key-record.ts';
import { isIP } from 'node:net';
import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import { normaliseAddress } from './networks.ts';

/** The keys that demand certificates, of one version of the keys. */
interface Demanding {
  readonly of: KnownKeys;
  readonly namesOf: ReadonlyMap<string, readonly string[]>;
  readonly byName: ReadonlyMap<string, readonly KeyRecord[]>;
}

/** Demands of keys on the certificates of clients. */
export function certificateRules(known: () => KnownKeys, admit: Admit): CertificateRules {
  let last: Demanding | undefined;
  const demanding = (): Demanding => {
    const keys = known();
    if (last?.of !== keys) last = demandingOf(keys);
    return last;
  };
  return {
    verify(certificate) {
      if (!certificate) throw refuse('The connection has no client certificate.');
      if (certificate.problem === undefined) return certificate;
      throw refuse(`The client certificate is not accepted (${certificate.problem}).`);
    },
    allow({ keyId }, { names }) {
      const missing =
        demanding()
          .namesOf.get(keyId)
          ?.some((name) => !names.has(name)) ?? false;
      if (missing) throw refuse(`The key ${keyId} demands another client certificate.`);
    },
    find({ names }, remoteAddress) {
      const { namesOf, byName } = demanding();
      const found = [...names]
        .flatMap((name) => byName.get(name) ?? [])
        .filter(({ id }) => namesOf.get(id)!.every((name) => names.has(name)));
      const [record, other] = found;
      if (record && other)
        throw refuse(`The client certificate is that of several keys (${record.id}, ${other.id}): send one of them.`);
      if (!record) return undefined;
      const { id: keyId, parts } = record;
      return admit({ keyId, validFrom: -Infinity, validTo: parts.expiresAt }, record, remoteAddress);
    },
  };
}

function demandingOf(keys: KnownKeys): Demanding {
  const demanding = [...keys.keys()].flatMap((record) => {
    const { client_certificate: certificate } = record.parts.key;
    const names = certificate ? demandedNames(certificate) : [];
    return names.length > 0 ? [{ record, names }] : [];
  });
  return {
    of: keys,
    namesOf: new Map(demanding.map(({ record, names }) => [record.id, names])),
    byName: new Map(
      [...Map.groupBy(demanding, ({ names }) => names[0]!)].map(([name, found]) => [
        name,
        found.map(({ record }) => record),
      ]),
    ),
  };
}

const refuse = (message: string): GatewayError => new GatewayError('invalid_client_certificate', message);

type Demanded = NonNullable<GatewayKey['client_certificate']>;

/** With the kind of each name: a DNS name of a certificate never passes for a URI with the same text. */
function demandedNames({ subject_alt_name: alternative, common_name: common }: Demanded): readonly string[] {
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

import { lookup as resolve } from 'node:dns/promises';
import { isIP } from 'node:net';
import { UpstreamError } from '../plugin/index.ts';
import { isLinkLocal, isMetadataServer, specialPurpose } from './address.ts';
import { causeOf } from './faults.ts';
import type { Origin } from './types.ts';

/** All addresses of a host name, in the order they should be tried. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** The system's resolver with its own order (RFC 6724): it knows which families this machine can reach. */
export const systemLookup: Lookup = async (hostname) => {
  const answers = await resolve(hostname, { all: true, order: 'verbatim' });
  return answers.map(({ address }) => address);
};

/** An origin as the guard lets it pass: https unless the catalog entry says otherwise, nothing but scheme, host and port. */
export function checkOrigin(origin: Origin): URL {
  const url = URL.parse(origin.url);
  if (!url || url.origin === 'null' || url.href !== `${url.origin}/`) {
    throw new UpstreamError(
      'egress_refused',
      `The upstream origin ${origin.url} is not of the form https://host[:port].`,
    );
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && origin.allowInsecure)) return url;
  throw new UpstreamError(
    'egress_refused',
    `The upstream ${url.host} may not be reached by ${url.protocol.slice(0, -1)}: the catalog entry does not set allow_insecure.`,
  );
}

/**
 * The addresses a connection to `hostname` may be made to. This is the one look-up of a connection: whoever calls connects
 * to exactly what it returns, so a name that answers differently a moment later (DNS rebinding) changes nothing.
 *
 * Of several answers the special-purpose ones are left out and the others used. Refusing the whole name would protect
 * no more, since what is left out is never connected to, and would take down a provider whose name also has an inside address.
 */
export async function permittedAddresses(
  hostname: string,
  allowInsecure: boolean,
  lookup: Lookup,
  metadataServer = false,
): Promise<readonly string[]> {
  // The URL parser has turned decimal, octal and hex forms into dotted ones (WHATWG URL, 3.5); undici strips the brackets.
  const literal = isIP(hostname) !== 0;
  const found = literal ? [hostname] : await findAddresses(hostname, lookup);
  const refuse = metadataServer
    ? refuseSpoofed(hostname)
    : allowInsecure
      ? refuseMachineServices
      : refuseSpecialPurpose;
  const permitted = found.filter((address) => refuse(address) === undefined);
  if (permitted.length > 0) return interleaveFamilies(permitted);
  // The address itself stays out of the message, which callers read: it would tell them of the network inside.
  throw new UpstreamError('egress_refused', `${hostname} ${literal ? 'is' : 'resolves to'} ${refuse(found[0]!)}.`, {
    cause: new Error(`refused ${found.join(', ')}`),
  });
}

/** Why an address is left out, in the words that follow `it is`. */
type Refusal = (address: string) => string | undefined;

const refuseSpecialPurpose: Refusal = (address) => {
  const purpose = specialPurpose(address);
  return purpose && `a special-purpose address (${purpose}); the catalog entry does not set allow_insecure`;
};

/**
 * An entry that may name an address inside must still not reach the credentials of the machine, nor what else clouds and kubelets offer
 * to it on link-local addresses, by a name that leads there either.
 */
const refuseMachineServices: Refusal = (address) => {
  // Whatever dials it would read other forms (`0251.0376.0251.0376`) in its own way.
  if (isIP(address) === 0) return 'not an IP address';
  if (isMetadataServer(address)) return "the address of a cloud's metadata server, which no catalog entry may reach";
  return isLinkLocal(address) ? 'a link-local address, which no catalog entry may reach' : undefined;
};

/**
 * The gateway itself asks for its token. Google's name for the server has been poisoned before, in machines and in networks:
 * it must lead to one. Any other host is the operator's, from the environment.
 */
const refuseSpoofed =
  (hostname: string): Refusal =>
  (address) =>
    hostname === METADATA_NAME && !isMetadataServer(address) ? 'an address that is no metadata server' : undefined;

const METADATA_NAME = 'metadata.google.internal';

async function findAddresses(hostname: string, lookup: Lookup): Promise<readonly string[]> {
  let found: readonly string[];
  try {
    found = await lookup(hostname);
  } catch (error) {
    throw new UpstreamError('connection_failed', `${hostname} cannot be resolved${causeOf(error)}.`, { cause: error });
  }
  if (found.length === 0) throw new UpstreamError('connection_failed', `${hostname} has no address.`);
  return found;
}

/** RFC 8305, section 4: alternate the families, beginning with that of the first answer, so that one broken family costs one delay. */
function interleaveFamilies(addresses: readonly string[]): readonly string[] {
  const family = isIP(addresses[0]!);
  const first = addresses.filter((address) => isIP(address) === family);
  const second = addresses.filter((address) => isIP(address) !== family);
  return first
    .flatMap((address, index) => (index < second.length ? [address, second[index]!] : [address]))
    .concat(second.slice(first.length));
}

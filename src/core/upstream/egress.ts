import { lookup as resolve } from 'node:dns/promises';
import { isIP } from 'node:net';
import { UpstreamError } from '../../plugin/index.ts';
import { isLinkLocal, isMetadataServer, specialPurpose } from './address.ts';
import { causeOf } from './faults.ts';
import type { Origin } from './types.ts';

/** All addresses of a host name, in the order in which to try them. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** The system's resolver, in its own order (RFC 6724), which considers the families that this machine can reach. */
export const systemLookup: Lookup = async (hostname) => {
  const answers = await resolve(hostname, { all: true, order: 'verbatim' });
  return answers.map(({ address }) => address);
};

/** Checks an origin: https unless the catalog entry allows http, and only scheme, host and port. */
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
 * The only lookup of a connection, which uses exactly these addresses: DNS rebinding has no effect. Special-purpose
 * ones among several are skipped: they are never used, and a provider's name may also have an internal address.
 */
export async function permittedAddresses(
  hostname: string,
  allowInsecure: boolean,
  lookup: Lookup,
  metadataServer = false,
): Promise<readonly string[]> {
  // The URL parser has converted decimal, octal and hex forms to dotted ones (WHATWG URL, 3.5); undici strips the brackets.
  const literal = isIP(hostname) !== 0;
  const found = literal ? [hostname] : await findAddresses(hostname, lookup);
  const refuse = metadataServer
    ? refuseSpoofed(hostname)
    : allowInsecure
      ? refuseMachineServices
      : refuseSpecialPurpose;
  const permitted = found.filter((address) => refuse(address) === undefined);
  if (permitted.length > 0) return interleaveFamilies(permitted);
  // The message, which callers see, omits the address, because it would reveal the internal network.
  throw new UpstreamError('egress_refused', `${hostname} ${literal ? 'is' : 'resolves to'} ${refuse(found[0]!)}.`, {
    cause: new Error(`refused ${found.join(', ')}`),
  });
}

/** The reason why an address is refused, as a phrase to follow `it is`. */
type Refusal = (address: string) => string | undefined;

const refuseSpecialPurpose: Refusal = (address) => {
  const purpose = specialPurpose(address);
  return purpose && `a special-purpose address (${purpose}); the catalog entry does not set allow_insecure`;
};

/**
 * An entry with `allow_insecure` may use internal addresses. It must still not reach the credentials of the machine,
 * nor other services that clouds and kubelets offer on link-local addresses, also not through a name that resolves to
 * them.
 */
const refuseMachineServices: Refusal = (address) => {
  // The connect call could interpret other forms (`0251.0376.0251.0376`) differently.
  if (isIP(address) === 0) return 'not an IP address';
  if (isMetadataServer(address)) return "the address of a cloud's metadata server, which no catalog entry may reach";
  return isLinkLocal(address) ? 'a link-local address, which no catalog entry may reach' : undefined;
};

/** Google's name of the server has been spoofed before, so it must resolve to one. Others are the operator's choice. */
const refuseSpoofed =
  (hostname: string): Refusal =>
  (address) =>
    hostname === METADATA_NAME && !isMetadataServer(address) ? 'an address that is not a metadata server' : undefined;

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

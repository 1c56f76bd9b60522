import type { CustomHostSettings } from '../plugin/index.ts';
import { Globs } from './globs.ts';

/** Hosts that a caller may send the gateway to, as `remote_media` and `custom_hosts` list them. */
export class AllowedHosts {
  readonly #schemes: ReadonlySet<string>;
  readonly #plain: Globs;
  readonly #withPort: Globs;

  constructor({ hosts, allowInsecure }: CustomHostSettings) {
    this.#schemes = new Set(allowInsecure ? ['https:', 'http:'] : ['https:']);
    this.#plain = new Globs(hosts.filter((host) => !host.includes(':')));
    this.#withPort = new Globs(hosts.filter((host) => host.includes(':')));
  }

  /** A scheme that may be used, and no credentials: they would go to whoever a name leads to, and into logs. */
  isAllowed({ protocol, username, password }: URL): boolean {
    return this.#schemes.has(protocol) && username === '' && password === '';
  }

  /** The URL parser has made the name lower-case and ASCII, and taken away the scheme's own port. */
  allows({ hostname, port }: URL): boolean {
    return port === '' ? this.#plain.matches(hostname) : this.#withPort.matches(`${hostname}:${port}`);
  }
}

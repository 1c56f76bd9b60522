import type { CatalogFile, GatewayFile, KeysFile, ServerFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';
import { checkCatalog } from './catalog.ts';
import { checkCrossings } from './crossings.ts';
import { checkGatewayConfig } from './gateway.ts';
import { checkKeys } from './keys.ts';
import { checkServer } from './server.ts';
import type { KnownNames } from './known.ts';

/** The settings files, undefined for one that could not be read, and the facts that the checks need besides. */
export interface ReadableSettings {
  readonly server: ServerFile | undefined;
  readonly catalog: CatalogFile | undefined;
  readonly keys: KeysFile | undefined;
  readonly gateway: ReadonlyMap<string, GatewayFile>;
  /** Ids of all gateway configs, including those that could not be read. */
  readonly configIds: readonly string[];
  readonly now: number;
}

/** Checks that a schema cannot express: names that refer to nothing, settings that contradict each other. */
export function checkMeaning(settings: ReadableSettings, reporter: (file: string) => Report): void {
  const { server, catalog, keys, gateway, configIds, now } = settings;
  const known: KnownNames = { entries: catalog?.providers, configIds, server, now };
  if (server) checkServer(server, known, reporter('server.yaml'));
  if (catalog) checkCatalog(catalog, known, reporter('catalog.yaml'));
  if (keys) checkKeys(keys, known, reporter('keys.yaml'));
  for (const [id, file] of gateway) {
    const report = reporter(`gateway/${id}.yaml`);
    checkNotEmpty(file, report);
    checkGatewayConfig(file, known, report);
  }
  checkCrossings(settings, reporter);
}

/** For files only: a request that sends `{}` does so deliberately. */
function checkNotEmpty(file: GatewayFile, report: Report): void {
  if (Object.keys(file).length > 0) return;
  const message = 'this config is empty: requests that use it must name the provider and the model themselves';
  report({ path: [], severity: 'warning', message });
}

import type { CatalogFile } from '../../../../schemas/types.generated.ts';
import { hasMember, parseJson } from '../../kernel/index.ts';
import type { StoredProvider } from '../source/stored-objects.ts';

/** An admin may write where an entry calls: credentials of the machine and shared ones go to the vendor, or where an entry of the file calls. */
export function foreignAddress(
  { provider, credentials, base_url: url }: StoredProvider['value']['doc'],
  file: Pick<CatalogFile, 'providers'> | undefined,
): string | undefined {
  if (credentials === undefined || url === undefined) return undefined;
  if (file?.providers.some((one) => one.provider === provider && one.base_url === url)) return undefined;
  return 'its credentials are shared or those of the machine, and `base_url` is that of no entry of catalog.yaml of this provider';
}

const SOURCES = new Set(['credential_source']);

/** Workload identity federation reads a file: the one that its JSON names, which may be any of the machine. */
export function machineFileOf({ credentials_json: json }: StoredProvider['value']['doc']): string | undefined {
  if (typeof json !== 'string' || !hasMember(parseJson(json), SOURCES)) return undefined;
  return 'its `credentials_json` names a file of the machine: write the entry into catalog.yaml';
}

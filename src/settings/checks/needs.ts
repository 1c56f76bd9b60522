import type { ChainItem, ServerFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';
import type { Check, CheckedConfig } from './check.ts';

/** Reports settings that have no effect because server.yaml switches off or leaves out what reads them. */
export const checkNeeds: Check = ({ server }) => {
  if (!server) return {};
  const attempt = server.chains?.attempt;
  return {
    config({ file }, report) {
      checkMetadata(file, server, report);
      checkReplyHeaders(file, server, report);
    },
    node({ file }, report) {
      if (!attempt) return;
      for (const { key, plugin } of OF_ATTEMPTS) {
        if (file[key] === undefined || has(attempt, plugin)) continue;
        const message = `\`${key}\` needs the plugin "${plugin}", which \`chains.attempt\` of server.yaml does not include`;
        report({ path: [key], on: 'key', message });
      }
    },
  };
};

const OF_ATTEMPTS = [
  { key: 'default_params', plugin: 'override' },
  { key: 'override_params', plugin: 'override' },
  { key: 'drop_params', plugin: 'override' },
  { key: 'cache', plugin: 'cache' },
  { key: 'retry', plugin: 'retry' },
] as const;

/** Compares the plugin's own name: an instance may have any name. */
const has = (chain: readonly ChainItem[], plugin: string): boolean =>
  chain.some((item) => (typeof item === 'string' ? item : item.plugin) === plugin);

function checkMetadata(file: CheckedConfig['file'], server: ServerFile, report: Report): void {
  const chain = file.plugins ?? server.chains?.request;
  if (!file.metadata || !chain || has(chain, 'metadata')) return;
  const place = file.plugins ? '`plugins` of this config' : '`chains.request` of server.yaml';
  const message = `\`metadata\` needs the plugin "metadata", which ${place} does not include`;
  report({ path: ['metadata'], on: 'key', message });
}

/** Replies carry no explain id while the admin listener keeps no explanations. */
function checkReplyHeaders(
  { reply_headers: names = [] }: CheckedConfig['file'],
  server: ServerFile,
  report: Report,
): void {
  const index = names.indexOf('explain_id');
  const { enabled = true, explain } = server.admin ?? {};
  if (index < 0 || (enabled && explain !== 'none')) return;
  const why = enabled ? '`admin.explain: none`' : '`admin.enabled: false`';
  const message = `server.yaml sets ${why}: no request is kept for \`explain\`, and no reply carries an \`explain_id\``;
  report({ path: ['reply_headers', index], severity: 'warning', message });
}

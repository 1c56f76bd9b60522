import type { ServerFile } from '../../../../schemas/types.generated.ts';
import type { Check, CheckedConfig } from '../../../core/settings/checks/check.ts';
import type { Report } from '../../../core/kernel/report.ts';

/** Checks `explain_id` of configs: a config sent with a request may not ask for it, and somebody must keep what it explains. */
export const checkExplainId: Check = ({ server, inline }) => ({
  config({ file }, report) {
    if (inline) checkInline(file, report);
    if (server) checkReplyHeaders(file, server, report);
  },
});

function checkInline({ reply_headers: names = [] }: CheckedConfig['file'], report: Report): void {
  const index = names.indexOf('explain_id');
  if (index < 0) return;
  const message = 'a config sent with a request cannot request `explain_id`: the gateway keeps bodies for it';
  report({ path: ['reply_headers', index], message });
}

/** Replies carry no explain id while the admin listener keeps no explanations. */
function checkReplyHeaders(
  { reply_headers: names = [] }: CheckedConfig['file'],
  server: ServerFile,
  report: Report,
): void {
  const index = names.indexOf('explain_id');
  // A build without the add-on admin has no such key.
  const { enabled = true, explain }: { readonly enabled?: boolean; readonly explain?: string } =
    ('admin' in server && server.admin) || {};
  if (index < 0 || (enabled && explain !== 'none')) return;
  const why = enabled ? '`admin.explain: none`' : '`admin.enabled: false`';
  const message = `server.yaml sets ${why}: no request is kept for \`explain\`, and no reply carries an \`explain_id\``;
  report({ path: ['reply_headers', index], severity: 'warning', message });
}

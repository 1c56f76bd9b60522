/** The result of one check. */
export interface Finding {
  /** `settings`, `credentials @openai`, `port 8787`. */
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'error' | 'skipped';
  readonly message: string;
}
const finding =
  (status: Finding['status']): ((check: string, message: string) => Finding) =>
  (check, message) => ({ check, status, message });

export const ok = finding('ok');
export const warning = finding('warning');
export const error = finding('error');
export const skipped = finding('skipped');

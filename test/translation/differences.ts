/** A way in which Gatehouse and the AI SDK differ on purpose, and why. A rule that explains nothing fails the test. */
export interface Rule {
  /** Cases to which it applies; default: all. */
  readonly cases?: readonly string[];
  readonly models?: RegExp;
  /** `[]` stands for any place of a list, `**` for anything. Where one of the two refuses: `refused`. */
  readonly paths: readonly string[];
  readonly reason: string;
}

export function explains(
  rule: Rule,
  where: { readonly id: string; readonly model: string; readonly path: string },
): boolean {
  if (rule.cases && !rule.cases.includes(where.id)) return false;
  if (rule.models && !rule.models.test(where.model)) return false;
  return rule.paths.some((path) => patternOf(path).test(where.path));
}

function patternOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const any = escaped.replaceAll(String.raw`\[\]`, String.raw`\[\d+\]`).replaceAll(String.raw`\*\*`, '.*');
  return new RegExp(`^${any}$`);
}

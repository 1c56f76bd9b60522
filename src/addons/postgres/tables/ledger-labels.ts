/**
 * Labels of rows, and sums by catalog entry and labels. Gateways of the release before name their columns: their rows have neither, and sums
 * that they fold while both serve lose them. `labels` of a row may be NULL, because the table that an append copies to has no defaults.
 */
export const LEDGER_LABELS = `
  ALTER TABLE ledger ADD COLUMN labels integer;
  ALTER TABLE ledger_delta ADD COLUMN provider text NOT NULL DEFAULT '', ADD COLUMN labels text NOT NULL DEFAULT '';
  ALTER TABLE ledger_sum ADD COLUMN provider text NOT NULL DEFAULT '', ADD COLUMN labels text NOT NULL DEFAULT '';
`;

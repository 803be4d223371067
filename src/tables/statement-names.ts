import { isTaka } from "../domain/money.ts";
import { fieldOfHeading, listed, plainHeading } from "./payroll-names.ts";

/** Headings of columns with money, as `plainHeading` makes them. */
const amounts = new Set(
  listed(`debit, debits, debit amount, dr, dr amount, credit, credits, credit amount, cr, cr amount, withdrawal, withdrawals,
    withdrawal amount, withdrawn, deposit, deposits, deposit amount, paid in, paid out, money in, money out, cash in,
    cash out, amount in, amount out, transaction amount, trx amount, txn amount, ডেবিট, ক্রেডিট, উত্তোলন, জমা, খরচ`),
);

/** Of the others, those that no line of a statement has as its text, such as Completed or Payment. */
const others = new Set(
  listed(`trx id, trxid, txn id, txnid, transaction id, transactionid, trx no, txn no, transaction no, transaction ref,
    transaction reference, payment id, payout id, refund id, payment no, receipt no, receipt, voucher no, cheque no, chq no,
    invoice, invoice no, ref, customer ref, customer reference, merchant reference, trx date, txn date, transaction date,
    value date, post date, posting date, posted date, booking date, trx time, txn time, transaction time, time, date time,
    date and time, date of transaction, completion time, completion date, completed at, completed on, created at,
    initiation time, details, transaction details, particulars, particular, remark, counterparty, opposite party, sender,
    sender no, from, from account, to account, trx status, txn status, fee, fees, charge, charges, commission, vat, balance,
    running balance, closing balance, available balance, balance after, লেনদেন নং, লেনদেন আইডি, সময়, চার্জ, ফি, কমিশন,
    ব্যালেন্স, স্থিতি, অবশিষ্ট, প্রেরক`),
);

/** What a heading of a statement names; undefined if it is none that is well-known. */
export function fieldOfStatement(heading: string): string | undefined {
  const words = plainHeading(heading);
  if (amounts.has(words)) return "amount";
  // In `Currency | BDT` above a table, the second one is no amount.
  if (isTaka(heading)) return "other";
  return others.has(words) ? "other" : fieldOfHeading(heading);
}

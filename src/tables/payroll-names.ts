import { currencyOfHeading } from "./currency.ts";

/** What a column of a payroll can hold. */
export const payrollFields = [
  ...(["name", "to", "amount", "method", "ref", "description"] as const),
  ...(["currency", "meaning", "before", "ignore"] as const),
] as const;
/**
 * `meaning`: a status, a type or a direction, which can change what an amount means; `before`: the cells that an
 * earlier run replaced.
 */
export type PayrollField = (typeof payrollFields)[number];

/** The column that has the cells which were replaced. */
export const beforeColumn = "as in the file";

/** Headings as `plainHeading` makes them, in English, in Bangla, and as the API has them. */
const headings: Record<Exclude<PayrollField, "ignore">, string> = {
  name: `name, full name, employee, employee name, emp name, employees name, name of employee, name of the employee,
    staff name, worker name, recipient name, recipientname, beneficiary, beneficiary name, receiver name, payee name,
    account name, account holder, account holder name, account title, নাম, পূর্ণ নাম, কর্মচারীর নাম, কর্মচারী, কর্মীর নাম,
    কর্মকর্তার নাম, শ্রমিকের নাম, প্রাপকের নাম, গ্রাহকের নাম, হিসাবধারীর নাম`,
  to: `to, mobile, mobile no, mob, mob no, mobile phone, mobile phone no, phone, phone no, cell, cell no, cell phone,
    cell phone no, contact, contact no, msisdn, recipient, recipient no, recipientnumber, recipient mobile,
    recipient mobile no, receiver, receiver no, beneficiary no, beneficiary mobile, beneficiary mobile no, employee mobile,
    employee mobile no, wallet no, wallet account, wallet account no, mfs no, mfs account, mfs account no, account,
    account no, acc no, ac no, a c no, bkash, bkash no, bkash mobile no, bkash account, bkash account no, bkash ac no,
    bkash a c no, bkash wallet, bkash wallet no, nagad, nagad no, nagad account, nagad account no, nagad wallet no,
    rocket, rocket no, rocket account, rocket account no, rocket wallet no, personal bkash no, salary account no, মোবাইল, মোবাইল
    no, ফোন, ফোন no, বিকাশ, বিকাশ no, বিকাশ একাউন্ট, নগদ, নগদ no, রকেট, রকেট no, হিসাব no, একাউন্ট no, অ্যাকাউন্ট no,
    প্রাপকের no, মোবাইল ফোন no, যোগাযোগ no`,
  amount: `amount, net payable, net payable amount, net payable salary, net pay, net salary, net amount, net wages, net,
    payable, payable amount, payable salary, total payable, salary payable, salary, salary amount, monthly salary, total,
    total salary, total amount, gross, gross salary, gross pay, gross payable, gross amount, gross wages, wage, wages, pay,
    pay amount, payment amount, payout amount, disbursement amount, transfer amount, take home, take home pay,
    take home salary, taka, tk, bdt, টাকা, টাকার পরিমাণ, পরিমাণ, বেতন, মোট, মোট বেতন, মোট টাকা, মোট প্রদেয়, নিট বেতন, নীট বেতন, নেট
    বেতন, নিট প্রদেয়, নীট প্রদেয়, নিট টাকা, প্রদেয়, প্রদেয় বেতন, প্রদেয় টাকা, মাসিক বেতন, মজুরি, মোট মজুরি`,
  method: `method, payment method, pay method, payout method, paymentmethodid, method id, mfs, mfs name, wallet, wallet
    name, wallet type, payment mode, mode of payment, provider, পদ্ধতি, মাধ্যম, পেমেন্ট মাধ্যম, পরিশোধের মাধ্যম`,
  ref: "ref, ref no, ref id, reference, reference no, reference id, merchantref, merchant ref, রেফারেন্স, রেফারেন্স no",
  description: "description, narration, purpose, payment purpose, বিবরণ, উদ্দেশ্য",
  currency: "currency, ccy, cur, curr, মুদ্রা",
  meaning: `status, state, payment status, payout status, transaction status, pay status, type, payment type, payout type, transaction type, trx type, txn type,
    direction, dr cr, cr dr, debit credit, অবস্থা, ধরন, দিক`,
  before: beforeColumn,
};

/** Headings of columns that are kept, by which a header is recognized. */
const others = `sl, sl no, s no, serial, serial no, no, id, id no, employee id, employee no, emp id, emp no, employee code,
  emp code, staff id, staff no, card no, dept, department, designation, grade, section, branch, unit, location, join date,
  joining date, date, month, basic, basic salary, remarks, note, ক্রমিক, ক্রমিক no, পদবি, পদবী, বিভাগ, শাখা, আইডি, আইডি no,
  কর্মচারী আইডি, তারিখ, মাস, মন্তব্য`;

const fieldsOf = new Map<string, PayrollField>();
for (const field of payrollFields)
  if (field !== "ignore") for (const one of listed(headings[field])) fieldsOf.set(one, field);
const known = new Set(listed(others));

export function listed(text: string): string[] {
  return text.split(",").map((one) => plainHeading(one));
}

/** The words of a heading: `Mobile No.`, `MOBILE NUMBER` and `Mobile #` are one. */
export function plainHeading(heading: string): string {
  return heading
    .normalize("NFC")
    .toLowerCase()
    .replace(/\u200c|\u200d|['’]/g, "")
    .replace(/[([{]\s*(?:in )?(?:bdt|tk\.?|taka|৳|টাকা)\s*[)\]}]/gu, " ")
    .replaceAll("#", " no ")
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .replace(/(?<= |^)(?:no|nos|number|num|নং|নম্বর|নাম্বার)(?= |$)/gu, "no")
    .replace(/(?<=\S)(?: in)? (?:bdt|tk|taka)\s*$/, "")
    .trim();
}

const month =
  /(?<= |^)(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*|for|of|20[2-9]\d|[2-9]\d)(?= |$)/g;

/** What the column below a heading holds, by its name; `other`: a column of payrolls that is kept. */
export function fieldOfHeading(heading: string): PayrollField | "other" | undefined {
  // A name and a value: `Account No: 123`, or in two cells.
  if (heading.length > 60 || /:\s*$/.test(heading)) return undefined;
  const words = plainHeading(currencyOfHeading(heading) ? heading.replace(/[([].*$/, "") : heading);
  const found = fieldsOf.get(words) ?? fieldsOf.get(words.replace(month, "").trim());
  return found ?? (known.has(words) ? "other" : undefined);
}

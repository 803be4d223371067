export type Language = "en" | "bn";

/** All that the payer's page says in one language. */
export interface PayPageWords {
  language: Language;
  /** How the digits of an amount are written and grouped, in lakh and crore. */
  numbers: string;
  /** The name of the other language, in that language. */
  other: { language: string; code: Language };
  noRealMoney: string;
  taka(amount: string): string;
  payHeading(amount: string): string;
  merchant: string;
  amount: string;
  description: string;
  method: string;
  payer: string;
  payerHint: string;
  payerProblem: string;
  pay: string;
  decline: string;
  completed: string;
  cancelled: string;
  nothingToDo: string;
  backTo(merchant: string): string;
  unknown: string;
  unknownHint: string;
  stale: string;
  nothingChanged: string;
  openAgain: string;
  back: string;
  backHint: string;
}

export const payPageWords: Record<Language, PayPageWords> = {
  en: {
    language: "en",
    numbers: "en-IN",
    other: { language: "বাংলা", code: "bn" },
    noRealMoney: "Local sandbox: no real money moves here.",
    taka: (amount) => `BDT ${amount}`,
    payHeading: (amount) => `Pay ${amount}`,
    merchant: "Merchant",
    amount: "Amount",
    description: "For",
    method: "Method",
    payer: "Your mobile number",
    payerHint: "11 digits, for example 01712345678",
    payerProblem: "This is not a Bangladeshi mobile number.",
    pay: "Pay",
    decline: "Decline",
    completed: "This payment is completed",
    cancelled: "This payment was cancelled",
    nothingToDo: "There is nothing more to do here.",
    backTo: (merchant) => `Back to ${merchant}`,
    unknown: "There is no such payment",
    unknownHint: "Check the address, or ask the merchant for a new one.",
    stale: "This page is out of date",
    nothingChanged: "Nothing was changed.",
    openAgain: "Open the payment again",
    back: "You are back at the merchant",
    backHint: "A merchant's own page comes here; this payment was made without one.",
  },
  bn: {
    language: "bn",
    numbers: "bn-BD",
    other: { language: "English", code: "en" },
    noRealMoney: "লোকাল স্যান্ডবক্স: এখানে আসল টাকার লেনদেন হয় না।",
    taka: (amount) => `${amount} টাকা`,
    payHeading: (amount) => `${amount} পরিশোধ করুন`,
    merchant: "মার্চেন্ট",
    amount: "টাকার পরিমাণ",
    description: "বিবরণ",
    method: "পেমেন্টের মাধ্যম",
    payer: "আপনার মোবাইল নম্বর",
    payerHint: "১১ ডিজিট, যেমন ০১৭১২৩৪৫৬৭৮",
    payerProblem: "এটি বাংলাদেশের মোবাইল নম্বর নয়।",
    pay: "পরিশোধ করুন",
    decline: "বাতিল করুন",
    completed: "পেমেন্টটি সম্পন্ন হয়েছে",
    cancelled: "পেমেন্টটি বাতিল হয়েছে",
    nothingToDo: "এখানে আর কিছু করার নেই।",
    backTo: (merchant) => `${merchant}-এ ফিরে যান`,
    unknown: "এমন কোনো পেমেন্ট নেই",
    unknownHint: "ঠিকানাটি মিলিয়ে দেখুন, অথবা মার্চেন্টের কাছে নতুন ঠিকানা চান।",
    stale: "পেজটি পুরোনো হয়ে গেছে",
    nothingChanged: "কিছুই বদলানো হয়নি।",
    openAgain: "পেমেন্টটি আবার খুলুন",
    back: "আপনি মার্চেন্টের কাছে ফিরে এসেছেন",
    backHint: "এখানে মার্চেন্টের নিজের পেজ থাকে; এই পেমেন্টে তা দেওয়া হয়নি।",
  },
};

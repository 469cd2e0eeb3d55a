/// The last labels of host names that make a bare word with a dot a link, as in `example.org`.
enum HostSuffixes {
    enum Kind { case known, word, unknown }

    /// `word`: it is a suffix and also a word, or the ending of a file's name, so it takes more to be a link.
    static func kind(of label: String) -> Kind {
        if known.contains(label) { return .known }
        if words.contains(label) { return .word }
        return label.hasPrefix("xn--") ? .known : .unknown
    }

    private static func set(_ text: String) -> Set<String> {
        Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    private static let known = set(
        """
        com net org info biz edu gov mil int xyz online site website shop store app dev tech club live life world
        top win vip icu buzz cyou bond sbs rest quest monster beauty hair skin makeup click link lol fun
        cloud host hosting space agency digital media news blog wiki email chat social network systems software
        games gaming bet casino poker finance financial money cash loan loans credit insure insurance crypto
        trade trading market markets exchange fund capital ventures holdings company business solutions services
        support center expert guru academy school university institute foundation charity church health healthcare
        clinic dental doctor hospital pharmacy fitness diet art design photo photos photography pics gallery video
        movie film music audio band show tickets events party dating singles porn sex sexy adult xxx cam webcam
        bar pub cafe pizza restaurant kitchen wine beer coffee fish garden flowers gifts toys kids baby mom family
        travel flights hotel hotels holiday vacations voyage tours taxi limo cars auto bike boats fly engineer
        engineering construction builders contractors energy solar green eco bio organic farm land property
        properties house homes apartments rent rentals realty estate immo haus villas camp legal law lawyer
        attorney consulting marketing promo sale deals discount coupons bargains cheap free gratis jobs careers
        work works pro name mobi tel asia cat coop aero museum jobs post arpa page web zone city town place street
        london paris berlin tokyo nyc moscow amsterdam wien vegas miami quebec africa eus gal scot wales cymru
        google amazon apple microsoft youtube bbc
        ac af ag ai ao aq ar au aw ax az ba bb bd bf bg bh bi bj bm bn bo br bs bt bw by bz ca cd cf cg ch ci ck
        cl cm cn co cr cu cv cw cx cy cz de dj dk dm dz ec ee eg er eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi
        gl gm gn gp gq gr gt gu gw gy hk hm hn hr ht hu ie im io iq ir je jm jo jp ke kg kh ki km kn kp kr kw ky
        kz lb lc li lk lr ls lt lu lv ly mc mg mh mk mn mo mp mq mr ms mt mu mv mw mx mz na nc ne nf ng ni nl np
        nr nu nz om pe pf pg ph pk pr pt pw qa re ro ru rw sb sc sd sg si sk sl sm sn sr ss st su sv sx sy sz tc
        td tf tg th tj tk tl tm tn tr tt tv tw tz ua ug uk uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw
        рф рус бел укр мкд срб қаз мон ею ไทย 中国 中國 香港 台湾 台灣 新加坡 公司 网络 网址 在线 中文网 日本 みんな
        コム 한국 भारत مصر ایران السعودية امارات ישראל
        """)

    private static let words = set(
        """
        ad ae al am as at be cc do es et gs id il in is it la ma md me ml mm my no pa pl pm pn ps py rs sa se sh so
        to us zip mov how you here now day today one red blue black fail foo ninja rocks team tips
        """)
}

# Steps that follow changes: a watch, and one whose history is gone, which its
# user recovers from by listing again. The client returns a reply when it has ended,
# which a watch does after timeoutSeconds.
package WatchSteps;

use strict;
use warnings;

use Harness;
use JSON;

sub steps {
    my ( $factory, $namespace ) = @_;
    my $client = $factory->api_client;
    my $path   = "/api/v1/namespaces/$namespace/endpoints";

    my $create = sub { raw( $client, 'POST', $path, body => { metadata => { name => $_[0] } } ) };
    my $touch = sub {
        my $body = { metadata => { name => $_[0], annotations => { touched => 'yes' } } };
        raw( $client, 'PUT', "$path/$_[0]", body => $body );
    };
    my $remove = sub { raw( $client, 'DELETE', "$path/$_[0]" ) };
    my $list = sub { decode_json( raw( $client, 'GET', $path ) ) };

    my $follow = sub {
        my ($revision) = @_;
        my $query = { watch => 'true', resourceVersion => $revision, timeoutSeconds => 2 };
        my @events = JSON->new->utf8->incr_parse( raw( $client, 'GET', $path, query => $query ) );
        return [ map { "$_->{type} " . ( $_->{object}{code} // $_->{object}{metadata}{name} ) } @events ];
    };

    my $changes = sub {
        my $start = $list->()->{metadata}{resourceVersion};
        $create->('seen');
        $touch->('seen');
        $remove->('seen');
        equal( $follow->($start), [ 'ADDED seen', 'MODIFIED seen', 'DELETED seen' ] );
    };
    my $timeout = sub {
        equal( $follow->( $list->()->{metadata}{resourceVersion} ), [] );
    };
    my $recovery = sub {
        $create->($_) for 'stays', 'goes';
        my $old = $list->()->{metadata}{resourceVersion};
        $remove->('goes');
        $create->('comes');
        skip('the history of this server cannot be taken away') unless ask('lose history');
        equal( $follow->($old), ['ERROR 410'] );
        my $again = $list->();
        equal( [ sort map { $_->{metadata}{name} } @{ $again->{items} } ], [ 'comes', 'stays' ] );
        $touch->('stays');
        equal( $follow->( $again->{metadata}{resourceVersion} ), ['MODIFIED stays'] );
    };

    return (
        'watch'                            => $changes,
        'watch ends after timeoutSeconds'  => $timeout,
        'recovery from 410'                => $recovery,
    );
}

1;
